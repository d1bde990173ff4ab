import { setImmediate } from 'node:timers/promises';
import {
  type Chunk,
  agrees,
  containsWords,
  normalise,
  sameAnswer,
  deriveSeed,
  randomNumbers,
  type TextRange,
  escapeForPattern,
  wordsWithin,
  type Told,
} from '@engraft/learning/parts';
import { otherNames, personMeant, thingAfter } from '../spans/antecedents.js';
import type { Candidate } from './candidate.js';
import { clozeQuestions, isNaming } from './cloze.js';
import { contradictedValues, withoutContradictions } from './contradictions.js';
import { deriveQuestions, type Context } from './derive.js';
import {
  inDocument,
  isAboutDocument,
  isDocument,
  isHouseNumber,
  protagonistOfDocument,
  titleOf,
  topicsOf,
} from './documentProse.js';
import { keywordQuestions } from './keywords.js';
import { withBareNouns } from '../spans/nouns.js';
import { salienceFeatures, salienceOf } from '../spans/salience.js';
import { findSpans, kindOfAnswer, type Span } from '../spans/spans.js';
import {
  fullNamesOf,
  introducedBy,
  protagonistOf,
  qualified,
  subjectName,
  takeStatementApart,
  withAliases,
  withFullNames,
  withoutAliases,
  type FullNames,
} from '../spans/statement.js';
import { cuedIn, relationsOf, relationTable } from './templates.js';
import { toldCandidate } from './toldCandidate.js';
import { rules } from '../rules.js';

export type { Candidate };

export interface Candidates {
  /**
   * Every span of every sentence, and every requested answer, unless the passage contradicts it. There are at most
   * `maxFactsPerAnswer` for one answer, the likeliest first.
   */
  readonly candidates: readonly Candidate[];
  /** Values that must not be taught. */
  readonly contradicted: readonly string[];
}

/**
 * Yields to other work after every sentence and every span, since a long passage takes seconds. It also looks for
 * `answers` wherever the passage has them, even if no pattern finds them.
 */
export async function findCandidates(
  passage: string,
  chunks: readonly Chunk[],
  answers: readonly string[] = [],
  told: ReadonlyMap<string, Told> = new Map(),
): Promise<Candidates> {
  const all: Candidate[] = [];
  let previous: TextRange | null = null;
  let earlierNames: readonly string[] = [];
  const isOfDocument = isDocument(passage, told);
  const title = titleOf(passage, told);
  const nameTexts = await namesIn(passage, chunks, told);
  const fullNames = fullNamesOf(nameTexts);
  const protagonist = isOfDocument
    ? protagonistOfDocument(passage, told, nameTexts)
    : protagonistOf(passage, nameTexts);
  const table = relationTable(passage);
  const first = chunks[0]?.sentences[0];
  const introduced = first === undefined ? [] : introducedBy(first, findSpans(first, passage));
  const view = { text: passage, opening: first?.text ?? '', protagonist };
  let context: Context = { antecedent: null, aliases: new Map(), protagonist };
  /** The last name that opened a sentence, and what "it" stands for. */
  let lastName: string | null = null;
  let thing: string | null = null;
  /** Others that the sentences since then have named. */
  let lastOthers: readonly string[] = [];
  const said = new Set<string>();
  /** The passage's last question, until the end of the paragraph that answers it. */
  let stated: string | null = null;
  let isAnswered = false;
  /** The last heading below the title. */
  let section: string | null = null;
  for (const [chunk, { sentences }] of chunks.entries()) {
    for (const sentence of sentences) {
      await setImmediate();
      if (/\?\s*$/u.test(sentence.text)) {
        // A question says nothing itself, but what follows answers it.
        stated = sentence.text.trim();
        isAnswered = false;
        earlierNames = namesOf(findSpans(sentence, passage));
        previous = sentence;
        continue;
      }
      const tells = told.get(sentence.text.trim());
      if (tells?.kind === 'title') {
        section = sentence === first ? null : sentence.text.trim();
        stated = null;
        previous = null;
        continue;
      }
      const isShort = tells !== undefined && tells.answer.split(' ').length <= rules.maxToldWords;
      const cell = isShort ? toldCandidate({ chunk, sentence }, tells, table, view) : [];
      if (cell.length > 0) {
        all.push(...cell);
        continue;
      }
      const spans = withAnswers(withBareNouns(findSpans(sentence, passage), sentence), sentence, answers);
      const meant = personMeant(sentence.text, { subject: lastName, others: lastOthers, protagonist });
      context = { ...context, antecedent: /^\s*Its?\b/u.test(sentence.text) ? thing : meant };
      const ownNames = [...new Set(namesOf(spans).map((name) => withFullNames(name, fullNames)))];
      const isSaid = wordsWithin(sentence.text);
      const referents = [...context.aliases].filter(([noun]) => isSaid(noun));
      const named = [
        sentence.text,
        stated ?? '',
        context.antecedent ?? '',
        protagonist ?? '',
        ...referents.map(([, name]) => name),
      ].join(' ');
      const about = `${named} ${withFullNames(named, fullNames)}`;
      // A sentence that repeats another about the same thing adds nothing to ask for.
      const saying = normalise(spans.some(isNaming) ? sentence.text : `${sentence.text} ${context.antecedent ?? ''}`);
      const repeated = said.has(saying);
      said.add(saying);
      const cued = cuedIn(table, sentence);
      for (const span of repeated ? [] : spans) {
        if (isOfDocument && isHouseNumber(span, sentence)) continue;
        const cloze = clozeQuestions(sentence, previous, span, spans);
        const derived = (isOfDocument ? inDocument : deriveQuestions)(sentence, span, spans, context).map((question) =>
          withFullNames(question, fullNames),
        );
        const subjects = askedAbout(sentence, span, spans, context, fullNames, introduced);
        const relations = relationsOf(cued, sentence, span, subjects);
        const random = randomNumbers(deriveSeed(0, 'keywords', span.start, span.text));
        const nearby = nearbyNames(sentence, ownNames, span.text, subjects, earlierNames);
        const topics = isOfDocument ? topicsOf(sentence, span, spans, { stated, section, title }) : [];
        const mentioned = topics.length > 0 ? topics : nearby;
        const keywords = keywordQuestions(sentence, span, spans, mentioned, rules.keywordsPerFact, random);
        const features = salienceFeatures(span, sentence, spans, view);
        all.push({
          chunk,
          sentence,
          span,
          cloze,
          derived,
          relations,
          keywords,
          tabled: null,
          stated,
          document: isOfDocument ? { title } : null,
          about,
          features,
          salience: salienceOf(features),
        });
        await setImmediate();
      }
      thing = thingAfter(sentence, spans, context, thing);
      const opened = subjectName(sentence, spans);
      lastOthers = [...(opened === null ? lastOthers : []), ...otherNames(sentence, spans, opened ?? lastName)];
      lastName = opened ?? lastName;
      context = { ...context, aliases: withAliases(context.aliases, sentence, spans) };
      previous = sentence;
      earlierNames = ownNames;
      if (sentence.text.trim() !== '') isAnswered = true;
      if (isAnswered && /^\s*$|\n\s*\n\s*$/u.test(sentence.text)) stated = null;
    }
  }
  const contradicted = contradictedValues(all);
  return { candidates: withoutCrowds(bySalience(withoutContradictions(all, contradicted))), contradicted };
}

/** The likeliest few for each answer. */
function withoutCrowds(candidates: readonly Candidate[]): Candidate[] {
  const perAnswer = new Map<string, number>();
  return candidates.filter(({ span, tabled }) => {
    const key = normalise(span.text);
    const count = (perAnswer.get(key) ?? 0) + 1;
    perAnswer.set(key, count);
    return key !== '' && (tabled !== null || count <= (span.isSubject ? 1 : rules.maxFactsPerAnswer));
  });
}

/** All names of the passage, but for those in the cells of its tables. */
async function namesIn(passage: string, chunks: readonly Chunk[], told: ReadonlyMap<string, Told>): Promise<string[]> {
  const isAbout = isAboutDocument(told);
  const names: string[] = [];
  for (const sentence of chunks.flatMap(({ sentences }) => sentences)) {
    if (isAbout(sentence.text)) names.push(...namesOf(findSpans(sentence, passage)));
    await setImmediate();
  }
  return names;
}

/** What a question for the span may be about: the subjects of its sentence, and the topic of the passage. */
function askedAbout(
  sentence: TextRange,
  span: Span,
  spans: readonly Span[],
  context: Context,
  fullNames: FullNames,
  introduced: readonly string[],
): string[] {
  const { antecedent, aliases, protagonist } = context;
  const statement = takeStatementApart(sentence, spans, antecedent);
  const subject =
    statement === null ? null : withoutAliases(qualified(statement.subject, protagonist, aliases), aliases);
  const name = spans.find((other) => other.kind === 'name' && other.start !== span.start && other.end <= span.start);
  const subjects = [subject, protagonist, name?.text ?? null, ...introduced]
    .filter((text) => text !== null)
    .map((text) => withFullNames(text, fullNames));
  const different = subjects.filter(
    (text, index) => !subjects.slice(0, index).some((other) => sameAnswer(other, text)),
  );
  return different
    .filter((text) => /\p{Lu}/u.test(text) && text.length <= 60 && !containsWords(text, span.text))
    .slice(0, rules.subjectsPerFact);
}

/** Adds the answers that occur in the sentence and are not among its spans. They replace spans inside them. */
function withAnswers(spans: readonly Span[], { start, text }: TextRange, answers: readonly string[]): Span[] {
  const different = answers.filter(
    (answer, index) => !answers.slice(0, index).some((other) => sameAnswer(other, answer)),
  );
  const fresh = different.flatMap((answer): Span[] => {
    if (answer === '' || spans.some((span) => agrees(span.text, answer))) return [];
    const word = escapeForPattern(answer);
    const found = new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'iu').exec(text);
    if (found === null) return [];
    const at = start + found.index;
    return [{ kind: kindOfAnswer(found[0]), start: at, end: at + found[0].length, text: found[0], isSubject: false }];
  });
  const others = spans.filter((span) => fresh.every(({ start: from, end }) => span.end <= from || span.start >= end));
  return [...others, ...fresh].sort((a, b) => a.start - b.start);
}

function namesOf(spans: readonly Span[]): string[] {
  return spans.filter(({ kind }) => kind === 'name' || kind === 'code').map(({ text }) => text);
}

/**
 * The subjects and other names of the sentence, and of the one before it if the sentence continues about it. People ask
 * about whatever a fact touches.
 */
function nearbyNames(
  { text: sentence }: TextRange,
  own: readonly string[],
  answer: string,
  subjects: readonly string[],
  earlier: readonly string[],
): string[] {
  const goesOn = /^\s*(?:It|He|She|They|Its|His|Her|Their|This|There|The \p{Ll})/u.test(sentence);
  const names = [...subjects];
  for (const name of [...own, ...(goesOn ? earlier : [])]) {
    if (names.length >= rules.keywordSubjects) break;
    if (!containsWords(name, answer) && !names.some((subject) => containsWords(subject, name))) names.push(name);
  }
  return names;
}

function bySalience(candidates: readonly Candidate[]): Candidate[] {
  return [...candidates].sort((a, b) => b.salience - a.salience || a.span.start - b.span.start);
}

/** The candidates that somebody may ask for, and at least the likeliest few, likeliest first. */
export function worthTeaching(candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(({ salience }, index) => salience >= rules.minSalience || index < rules.fewCandidates);
}

/** Chooses as many candidates as planned. Each chunk gets its share, the likeliest first. */
export function chooseCandidates(candidates: readonly Candidate[], count: number): Candidate[] {
  const chunks = new Map<number, Candidate[]>();
  for (const candidate of candidates) {
    const ofChunk = chunks.get(candidate.chunk) ?? [];
    chunks.set(candidate.chunk, [...ofChunk, candidate]);
  }
  const total = Math.min(count, candidates.length);
  const chosen: Candidate[] = [];
  let passed = 0;
  for (const ofChunk of chunks.values()) {
    passed += ofChunk.length;
    const room = Math.floor((total * passed) / candidates.length) - chosen.length;
    chosen.push(...bySalience(ofChunk).slice(0, room));
  }
  // Sorted over all chunks again, since the last ones are not asked when money runs out.
  return bySalience(chosen);
}
