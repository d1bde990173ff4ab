/** Reads the sentences of a passage in their order, and finds what each says that may be asked for. */
import { setImmediate } from 'node:timers/promises';
import {
  agrees,
  containsWords,
  deriveSeed,
  escapeForPattern,
  normalise,
  randomNumbers,
  sameAnswer,
  wordsWithin,
  type TextRange,
} from '@engraft/learning/parts';
import { rules } from '../rules.js';
import { otherNames, personMeant, thingAfter } from '../spans/antecedents.js';
import { withBareNouns } from '../spans/nouns.js';
import { salienceFeatures, salienceOf } from '../spans/salience.js';
import { findSpans, kindOfAnswer, type Span } from '../spans/spans.js';
import {
  qualified,
  subjectName,
  takeStatementApart,
  withAliases,
  withFullNames,
  withoutAliases,
} from '../spans/statement.js';
import type { Candidate } from './candidate.js';
import { clozeQuestions, isNaming } from './cloze.js';
import { deriveQuestions } from './derive.js';
import { partWith, type Context } from './clauses.js';
import { inDocument, isHouseNumber, isShoutedTitle, topicsOf, withAddresses } from './documentProse.js';
import { keywordQuestions } from './keywords.js';
import { holdersNamed, withCodes, withHolders, type Holders } from './namesInDocument.js';
import { hasAll, neededWords } from './neededWords.js';
import type { Template } from './relations/relation.js';
import { isMeantFor, relativeWith, type IsMeant } from './saidOf.js';
import { cuedIn, relationsOf } from './templates.js';
import { toldCandidate } from './toldCandidate.js';
import { namesOf, type WholePassage } from './wholePassage.js';

/** A sentence with what its candidates share. */
interface ReadSentence {
  readonly chunk: number;
  readonly sentence: TextRange;
  readonly spans: readonly Span[];
  /** Its own names, in full. */
  readonly names: readonly string[];
  readonly cued: readonly Template[];
  /** See `Candidate.about`. */
  readonly about: string;
}

/** Remembers what the sentences so far were about. */
export class SentenceReader {
  #context: Context;
  #previous: TextRange | null = null;
  #earlierNames: readonly string[] = [];
  /** The last name that opened a sentence, and what "it" stands for. */
  #lastName: string | null = null;
  #thing: string | null = null;
  /** Others that the sentences since then have named. */
  #lastOthers: readonly string[] = [];
  readonly #said = new Set<string>();
  /** The passage's last question, until the end of the paragraph that answers it. */
  #stated: string | null = null;
  #isAnswered = false;
  /** The last heading below the title. */
  #section: string | null = null;

  /** It also looks for `answers` wherever the passage has them, even if no pattern finds them. */
  constructor(
    readonly passage: WholePassage,
    readonly answers: readonly string[],
  ) {
    this.#context = { antecedent: null, aliases: new Map(), protagonist: passage.protagonist };
  }

  /** Yields to other work after every span, since a long sentence takes a while. */
  async read(chunk: number, sentence: TextRange): Promise<Candidate[]> {
    if (/\?\s*$/u.test(sentence.text)) {
      this.#keepQuestion(sentence);
      return [];
    }
    const told = this.passage.told.get(sentence.text.trim());
    if (told?.kind === 'title' || isShoutedTitle(sentence.text, this.passage.text)) {
      this.#enterSection(sentence);
      return [];
    }
    const isShort = told !== undefined && told.answer.split(' ').length <= rules.maxToldWords;
    const { relations, view } = this.passage;
    const cell = isShort ? toldCandidate({ chunk, sentence }, told, relations, view) : [];
    return cell.length > 0 ? cell : this.#readProse(chunk, sentence);
  }

  /** A question says nothing itself, but what follows answers it. */
  #keepQuestion(sentence: TextRange): void {
    this.#stated = sentence.text.trim();
    this.#isAnswered = false;
    this.#earlierNames = namesOf(findSpans(sentence, this.passage.text));
    this.#previous = sentence;
  }

  #enterSection(heading: TextRange): void {
    this.#section = heading === this.passage.firstSentence ? null : heading.text.trim();
    this.#stated = null;
    this.#previous = null;
  }

  async #readProse(chunk: number, sentence: TextRange): Promise<Candidate[]> {
    const { codes, fullNames, protagonist, relations, text } = this.passage;
    const found = withCodes(withBareNouns(findSpans(sentence, text), sentence), sentence, codes);
    const own = this.passage.isDocument ? withAddresses(found, sentence) : found;
    const spans = withAnswers(own, sentence, this.answers);
    const meant = personMeant(sentence.text, { subject: this.#lastName, others: this.#lastOthers, protagonist });
    this.#context = { ...this.#context, antecedent: /^\s*Its?\b/u.test(sentence.text) ? this.#thing : meant };
    const read: ReadSentence = {
      chunk,
      sentence,
      spans,
      names: [...new Set(namesOf(spans).map((name) => withFullNames(name, fullNames)))],
      cued: cuedIn(relations, sentence),
      about: this.#whatIsNamed(sentence),
    };
    const candidates: Candidate[] = [];
    for (const span of this.#isRepeated(read) ? [] : spans) {
      if (this.passage.isDocument && isHouseNumber(span, sentence)) continue;
      candidates.push(this.#candidate(read, span));
      await setImmediate();
    }
    this.#goOn(read);
    return candidates;
  }

  /** The sentence, and what its pronouns and nouns stand for. */
  #whatIsNamed({ text }: TextRange): string {
    const { antecedent, aliases } = this.#context;
    const isSaid = wordsWithin(text);
    const referents = [...aliases].filter(([noun]) => isSaid(noun)).map(([, name]) => name);
    const others = [...referents, ...holdersNamed(text, this.passage.holders), this.#section ?? ''];
    const named = [text, this.#stated ?? '', antecedent ?? '', this.passage.protagonist ?? '', ...others].join(' ');
    return `${named} ${withFullNames(named, this.passage.fullNames)}`;
  }

  /** A sentence that repeats another about the same thing adds nothing to ask for. */
  #isRepeated({ sentence: { text }, spans }: ReadSentence): boolean {
    const saying = normalise(spans.some(isNaming) ? text : `${text} ${this.#context.antecedent ?? ''}`);
    const isRepeated = this.#said.has(saying);
    this.#said.add(saying);
    return isRepeated;
  }

  #candidate(read: ReadSentence, span: Span): Candidate {
    const { chunk, sentence, spans, cued, about } = read;
    const { fullNames, holders, isDocument, title, view } = this.passage;
    const derived = isDocument
      ? inDocument(sentence, span, spans, this.#context, this.#stated)
      : deriveQuestions(sentence, span, spans, this.#context);
    const isMeant = isMeantFor(sentence, span, spans, this.#context);
    const subjects = askedAbout(sentence, span, spans, this.#context, this.passage, isMeant);
    const features = salienceFeatures(span, sentence, spans, view);
    const needed = neededWords(sentence, span);
    const isSaid = (question: string): boolean => hasAll(question, needed);
    return {
      chunk,
      sentence,
      span,
      cloze: clozeQuestions(sentence, this.#previous, span, spans),
      derived: withHolders(
        derived.map((question) => withFullNames(question, fullNames)),
        holders,
        span.text,
      ).filter(isSaid),
      relations: relationsOf(cued, sentence, span, subjects).flatMap(({ name, questions }) => {
        const said = questions.filter(isSaid);
        return said.length === 0 ? [] : [{ name, questions: said }];
      }),
      keywords: this.#keywords(read, span, subjects, isMeant).filter(isSaid),
      tabled: null,
      stated: this.#stated,
      document: isDocument ? { title } : null,
      about,
      features,
      salience: salienceOf(features),
    };
  }

  #keywords(read: ReadSentence, span: Span, subjects: readonly string[], isMeant: IsMeant): readonly string[] {
    const { isDocument, title } = this.passage;
    const { sentence: whole, spans: all, names } = read;
    // Words of another clause ask for that one's value.
    const sentence = isDocument
      ? partWith(whole, span, all, this.#context)
      : (relativeWith(whole, span, all)?.clause ?? whole);
    const spans = all.filter(({ start, end }) => start >= sentence.start && end <= sentence.end);
    const around = { stated: this.#stated, section: this.#section, title };
    const topics = isDocument ? topicsOf(sentence, span, spans, around) : [];
    const nearby = nearbyNames(
      sentence,
      names.filter(isMeant),
      span.text,
      subjects,
      this.#earlierNames.filter(isMeant),
    );
    const random = randomNumbers(deriveSeed(0, 'keywords', span.start, span.text));
    const mentioned = topics.length > 0 ? topics : nearby;
    return keywordQuestions(sentence, span, spans, mentioned, rules.keywordsPerFact, random);
  }

  #goOn({ sentence, spans, names }: ReadSentence): void {
    this.#thing = thingAfter(sentence, spans, this.#context, this.#thing);
    const opened = subjectName(sentence, spans);
    const others = otherNames(sentence, spans, opened ?? this.#lastName);
    this.#lastOthers = [...(opened === null ? this.#lastOthers : []), ...others];
    this.#lastName = opened ?? this.#lastName;
    this.#context = { ...this.#context, aliases: withAliases(this.#context.aliases, sentence, spans) };
    this.#previous = sentence;
    this.#earlierNames = names;
    if (sentence.text.trim() !== '') this.#isAnswered = true;
    if (this.#isAnswered && /^\s*$|\n\s*\n\s*$/u.test(sentence.text)) this.#stated = null;
  }
}

/** The names that a question for the span may be about: subjects of its sentence, and the topic of the passage. */
function askedAbout(
  sentence: TextRange,
  span: Span,
  spans: readonly Span[],
  context: Context,
  { fullNames, introduced, isDocument, holders }: WholePassage,
  isMeant: IsMeant,
): string[] {
  const { antecedent, aliases, protagonist } = context;
  const statement = takeStatementApart(sentence, spans, antecedent);
  const subject =
    statement === null ? null : withoutAliases(qualified(statement.subject, protagonist, aliases), aliases);
  // A document's prose is about many things, and not about what its title names or who has a part in it.
  if (isDocument) return subject !== null && isOwnName(subject, holders) ? [subject] : [];
  const name = spans.find((other) => other.kind === 'name' && other.start !== span.start && other.end <= span.start);
  const head = relativeWith(sentence, span, spans)?.head ?? null;
  const subjects = [head, subject, protagonist, name?.text ?? null, ...introduced]
    .filter((text) => text !== null)
    .filter(isMeant)
    .map((text) => withFullNames(text, fullNames));
  const different = subjects.filter(
    (text, index) => !subjects.slice(0, index).some((other) => sameAnswer(other, text)),
  );
  return different
    .filter((text) => /\p{Lu}/u.test(text) && text.length <= maxNameChars && !containsWords(text, span.text))
    .slice(0, rules.subjectsPerFact);
}

function isOwnName(subject: string, holders: Holders): boolean {
  const name = subject.replace(/^the /u, '');
  return /^\p{Lu}/u.test(name) && name.length <= maxNameChars && !holders.has(name);
}

const maxNameChars = 60;

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
