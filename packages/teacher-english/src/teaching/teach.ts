import type { GenerateRequest } from '@engraft/engine';
import { bareAnswer } from './bareAnswer.js';
import type { TeachingPlan } from '../metering/budget.js';
import type { MeteredCalls } from '../metering/calls.js';
import type { Candidates } from '../questions/candidates.js';
import type { Chunk } from '../text/chunk.js';
import { isNaming } from '../questions/cloze.js';
import { mentionsAny } from '../questions/contradictions.js';
import { questionKey, type Fact, type Form, type FormOrigin } from '../facts.js';
import { agrees, containsWords, sameAnswer } from '../text/normalise.js';
import { askPrompt, listPrompt, notStated, rephrasePrompt } from '../prompts.js';
import { fitsQuestionWord } from '../questions/questionWord.js';
import { deriveSeed } from '../random.js';
import { recipe } from '../recipe.js';
import type { Stretch } from '../text/sentences.js';
import { findSpans } from '../spans/spans.js';
import { parseList, questionIn } from './teacherText.js';
import type { Relation } from '../questions/templates.js';
import type { QuestionAnswer } from '../types.js';
import { windowOf } from '../text/window.js';

/** A fact while its forms are being gathered. */
interface Draft {
  readonly chunk: number;
  readonly sentenceStart: number;
  readonly answer: string;
  readonly salience: number;
  readonly cloze: readonly string[];
  readonly derived: readonly string[];
  readonly relations: readonly Relation[];
  readonly keywords: readonly string[];
  readonly about: string;
  readonly forms: Map<string, Form>;
}

/**
 * Asks the teacher for questions: one for each chosen span, one list for each chunk, then rephrasings of what it
 * asked, round after round, until every fact has the planned number of forms, or the share is used up. What the
 * teacher wrote is not yet trusted; scoring reads it back.
 */
export async function teach(
  calls: MeteredCalls,
  chunks: readonly Chunk[],
  { candidates, contradicted }: Candidates,
  plan: TeachingPlan,
  seed: number,
): Promise<Fact[]> {
  const drafts = candidates.map(({ chunk, sentence, span, stated, ...rest }): Draft => {
    const draft = { chunk, sentenceStart: sentence.start, answer: span.text, ...rest, forms: new Map() };
    if (stated !== null) addForm(draft, stated, 'stated');
    return draft;
  });
  await askForEach(calls, chunks, drafts, 0, seed);
  await askForLists(calls, chunks, drafts, contradicted, plan);
  for (const draft of drafts) {
    for (const question of draft.derived.slice(0, recipe.derivedPerFact)) addForm(draft, question, 'derived');
  }
  for (let round = 1; round <= recipe.askRounds; round++) {
    const wanting = drafts.filter((draft) => draft.forms.size < recipe.enoughForms);
    await askForEach(calls, chunks, wanting, round, seed);
  }
  for (let round = 1; round <= recipe.rephraseRounds; round++) {
    const unfinished = drafts.filter((draft) => draft.forms.size > 0 && draft.forms.size < plan.formsPerFact);
    if (unfinished.length === 0 || !(await rephraseEach(calls, unfinished, round, seed))) break;
  }
  for (const draft of drafts) {
    for (const { name, questions } of draft.relations) {
      for (const question of questions) addForm(draft, question, 'template', name);
    }
  }
  return drafts.map((draft) => finished(draft, contradicted)).filter((fact) => fact.forms.length > 0);
}

/** Round 0 is greedy; what later ones bring is sampled. */
async function askForEach(
  calls: MeteredCalls,
  chunks: readonly Chunk[],
  drafts: readonly Draft[],
  round: number,
  seed: number,
): Promise<void> {
  const requests = drafts.map((draft, index): GenerateRequest => ({
    prompt: askPrompt(windowOf(chunks[draft.chunk], draft.sentenceStart), draft.answer),
    adapter: null,
    maxOutputTokens: recipe.maxQuestionTokens,
    temperature: round === 0 ? 0 : recipe.rephraseTemperature,
    seed: deriveSeed(seed, 'ask', round, index),
  }));
  const results = await calls.generate(requests, recipe.teachingShare);
  drafts.forEach((draft, index) => {
    const result = results[index];
    if (result?.finishReason === 'stop') addForm(draft, questionIn(result.text), 'asked');
  });
}

/** Listed pairs whose answer is not a span yet become facts of the sentence they fit best. */
async function askForLists(
  calls: MeteredCalls,
  chunks: readonly Chunk[],
  drafts: Draft[],
  contradicted: readonly string[],
  plan: TeachingPlan,
): Promise<void> {
  const requests = chunks.map((chunk): GenerateRequest => ({
    prompt: listPrompt(chunk.text),
    adapter: null,
    maxOutputTokens: recipe.maxListTokens,
    temperature: 0,
  }));
  const results = await calls.generate(requests, recipe.teachingShare);
  for (const [index, chunk] of chunks.entries()) {
    for (const { question, answer: given } of parseList(results[index]?.text ?? '')) {
      const answer = bareAnswer(question, given);
      const sentence = sentenceOf(chunk, question, answer);
      if (sentence === null || sameAnswer(answer, notStated) || mentionsAny(contradicted, question, answer)) continue;
      const known = drafts.find((draft) => draft.sentenceStart === sentence.start && agrees(draft.answer, answer));
      if (known === undefined && drafts.length >= plan.factCount) continue;
      const draft = known ?? {
        chunk: index,
        sentenceStart: sentence.start,
        answer,
        salience: recipe.listedSalience,
        cloze: [],
        derived: [],
        relations: [],
        keywords: [],
        about: drafts.find(({ sentenceStart }) => sentenceStart === sentence.start)?.about ?? sentence.text,
        forms: new Map(),
      };
      if (known === undefined) drafts.push(draft);
      addForm(draft, question, 'listed');
    }
  }
}

/** Of the sentences that contain the answer, the one that shares most words with the question. */
function sentenceOf(chunk: Chunk, question: string, answer: string): Stretch | null {
  const asked = new Set(questionKey(question).split(' '));
  let best: { sentence: Stretch; shared: number } | null = null;
  for (const sentence of chunk.sentences) {
    if (!containsWords(sentence.text, answer)) continue;
    const shared = questionKey(sentence.text)
      .split(' ')
      .filter((word) => asked.has(word)).length;
    if (best === null || shared > best.shared) best = { sentence, shared };
  }
  return best?.sentence ?? null;
}

/** One rephrasing for every fact, of one of its forms in turn. False when none was affordable. */
async function rephraseEach(
  calls: MeteredCalls,
  drafts: readonly Draft[],
  round: number,
  seed: number,
): Promise<boolean> {
  // Never of a rephrasing: each step away from the first question loses a little more of it.
  const sources = drafts.map((draft) => {
    const first = [...draft.forms.values()].filter(({ origin }) => origin !== 'rephrased');
    return first[(round - 1) % first.length]?.question ?? '';
  });
  const requests = drafts.map((draft, index) =>
    rephraseRequest(sources[index] ?? '', deriveSeed(seed, 'rephrase', round, draft.sentenceStart, draft.answer)),
  );
  const results = await calls.generate(requests, recipe.teachingShare);
  drafts.forEach((draft, index) => {
    const result = results[index];
    const source = sources[index] ?? '';
    const question = result?.finishReason === 'stop' ? questionIn(result.text) : '';
    if (question !== '' && keepsNames(source, question, draft.answer)) addForm(draft, question, 'rephrased');
  });
  return results.some((result) => result !== null);
}

function rephraseRequest(question: string, seed: number): GenerateRequest {
  return {
    prompt: rephrasePrompt(question),
    adapter: null,
    maxOutputTokens: recipe.maxQuestionTokens,
    temperature: recipe.rephraseTemperature,
    seed,
  };
}

/** Up to `count` different rephrasings of each question, sampled, that may be trained with its answer. */
export async function rephrasingsOf(
  calls: MeteredCalls,
  pairs: readonly QuestionAnswer[],
  count: number,
  seed: number,
): Promise<string[][]> {
  const rounds = Array.from({ length: count }, (_, round) => round);
  const requests = pairs.flatMap(({ question, answer }) =>
    rounds.map((round) => rephraseRequest(question, deriveSeed(seed, 'rephrase', round, question, answer))),
  );
  const results = await calls.generate(requests, recipe.teachingShare);
  return pairs.map(({ question, answer }, index) => {
    const different = new Map<string, string>();
    for (const result of results.slice(index * count, (index + 1) * count)) {
      const text = result?.finishReason === 'stop' ? questionIn(result.text) : '';
      if (isQuestion(text, answer) && keepsNames(question, text, answer)) different.set(questionKey(text), text);
    }
    different.delete(questionKey(question));
    return [...different.values()];
  });
}

/** A rephrasing that lost or changed a name or a number asks for something else. */
export function keepsNames(source: string, rephrasing: string, answer: string): boolean {
  const stretch = { start: 0, end: source.length, text: source };
  return findSpans(stretch, source)
    .filter((span) => span.kind !== 'phrase' && !containsWords(answer, span.text))
    .every((span) => containsWords(rephrasing, span.text));
}

function addForm(draft: Draft, text: string, origin: FormOrigin, relation?: string): void {
  const question = text.trim();
  if (isQuestion(question, draft.answer) && namesOnly(question, draft.about)) {
    const key = questionKey(question);
    if (!draft.forms.has(key))
      draft.forms.set(key, { question, origin, ...(relation === undefined ? {} : { relation }) });
  }
}

/** One line that asks, long enough to say about what, that does not give the answer away and stands on its own. */
export function isQuestion(text: string, answer: string): boolean {
  return (
    /^[^\n]+\?$/u.test(text) &&
    questionKey(text).split(' ').length >= 3 &&
    !containsWords(text, answer) &&
    fitsQuestionWord(text, answer) &&
    standsAlone(text)
  );
}

/** A small teacher likes to ask about another thing of the passage than the answer belongs to. */
export function namesOnly(question: string, about: string): boolean {
  const stretch = { start: 0, end: question.length, text: question };
  return findSpans(stretch, question).every((span) => !isNaming(span) || containsWords(about, span.text));
}

/** "How much does it weigh?" means nothing once the passage is gone. */
function standsAlone(question: string): boolean {
  if (!/\b(?:he|she|it|they|him|her|them|his|hers|its|their|theirs)\b/iu.test(question)) return true;
  const stretch = { start: 0, end: question.length, text: question };
  return findSpans(stretch, question).some(isNaming);
}

/** Without what names a value that the passage contradicts itself about: "What costs 49 dollars?" */
function finished(draft: Draft, contradicted: readonly string[]): Fact {
  const cloze = draft.cloze.map((question): Form => ({ question, origin: 'cloze' }));
  const keywords = draft.keywords.map((question): Form => ({ question, origin: 'keywords' }));
  return {
    chunk: draft.chunk,
    sentenceStart: draft.sentenceStart,
    answer: draft.answer,
    salience: draft.salience,
    forms: [...draft.forms.values(), ...keywords, ...cloze].filter(
      ({ question }) => !mentionsAny(contradicted, question),
    ),
  };
}
