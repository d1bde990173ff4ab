import type { GenerateRequest } from '@engraft/engine';
import {
  agrees,
  containsWords,
  deriveSeed,
  parseList,
  questionIn,
  questionKey,
  sameAnswer,
  windowOf,
  type Chunk,
  type Fact,
  type Form,
  type TextRange,
  type TeachingPlan,
} from '@engraft/learning/parts';
import { formOf, isOf, type FormOrigin } from '../forms.js';
import type { Candidate, Candidates } from '../questions/candidates.js';
import { mentionOf } from '../questions/contradictions.js';
import { isOfItsWords } from '../questions/documentProse.js';
import { hasAll, neededWords } from '../questions/neededWords.js';
import type { Relation } from '../questions/templates.js';
import type { ToldQuestions } from '../questions/toldQuestions.js';
import { rules } from '../rules.js';
import { bareAnswer } from './bareAnswer.js';
import type { Lesson } from './lesson.js';
import { rephraseRequest } from './rephrase.js';
import { isQuestion, keepsNames, namesOnly } from './wellFormed.js';

/** The seed determines everything that is sampled in it. */
interface SeededLesson extends Lesson {
  readonly seed: number;
}

/** A fact whose forms are still being gathered. */
interface Draft {
  readonly chunk: number;
  readonly sentenceStart: number;
  readonly answer: string;
  readonly salience: number;
  readonly cloze: readonly string[];
  readonly derived: readonly string[];
  readonly tabled: ToldQuestions | null;
  readonly relations: readonly Relation[];
  readonly keywords: readonly string[];
  readonly about: string;
  /** Those of a cell need none. */
  readonly needed: readonly RegExp[];
  readonly document: Candidate['document'];
  readonly forms: Map<string, Form>;
}

/**
 * Asks the teacher for questions: one for each chosen span, one list for each chunk, then rounds of rephrasings, until
 * every fact has the planned number of forms or the share is used up. What the teacher wrote is not yet trusted;
 * `confirm` reads it back.
 */
export async function teach(
  lesson: SeededLesson,
  { candidates, contradicted }: Candidates,
  plan: TeachingPlan,
): Promise<Fact[]> {
  const { enoughForms } = lesson.recipe.teaching;
  const drafts = candidates.map(({ chunk, sentence, span, stated, ...rest }): Draft => {
    const needed = rest.tabled === null ? neededWords(sentence, span) : [];
    const draft = { chunk, sentenceStart: sentence.start, answer: span.text, ...rest, needed, forms: new Map() };
    if (stated !== null) addForm(draft, stated, 'stated');
    if (draft.tabled !== null) addToldForms(draft, draft.tabled);
    return draft;
  });
  const isContradicted = mentionOf(contradicted);
  // Rules know all of a cell, and a small teacher asks for it worse.
  const isProse = ({ tabled }: Draft): boolean => tabled === null;
  await askForEach(lesson, drafts.filter(isProse), 0);
  await askForLists(lesson, drafts, isContradicted, plan);
  for (const draft of drafts) {
    const most = draft.document === null ? rules.derivedPerFact : rules.derivedPerDocumentFact;
    for (const question of draft.derived.slice(0, most)) addForm(draft, question, 'derived');
  }
  for (let round = 1; round <= rules.askRounds; round++) {
    const wanting = drafts.filter((draft) => isProse(draft) && draft.forms.size < enoughForms);
    await askForEach(lesson, wanting, round);
  }
  for (let round = 1; round <= rules.rephraseRounds; round++) {
    const unfinished = drafts.filter(
      (draft) => isProse(draft) && draft.forms.size > 0 && draft.forms.size < plan.formsPerFact,
    );
    if (unfinished.length === 0 || !(await rephraseEach(lesson, unfinished, round))) break;
  }
  for (const draft of drafts) {
    for (const { name, questions } of draft.relations) {
      for (const question of questions) addForm(draft, question, 'template', name);
    }
  }
  return drafts.map((draft) => finished(draft, isContradicted)).filter((fact) => fact.forms.length > 0);
}

/** Round 0 is greedy, and later rounds are sampled. */
async function askForEach(
  { calls, passage, recipe, seed }: SeededLesson,
  drafts: readonly Draft[],
  round: number,
): Promise<void> {
  const requests = drafts.map((draft, index): GenerateRequest => ({
    prompt: recipe.prompts.ask(windowOf(passage.chunks[draft.chunk], draft.sentenceStart), draft.answer),
    adapter: null,
    maxOutputTokens: rules.maxQuestionTokens,
    temperature: round === 0 ? 0 : rules.rephraseTemperature,
    seed: deriveSeed(seed, 'ask', round, index),
  }));
  const results = await calls.generate(requests, recipe.shares.teaching);
  drafts.forEach((draft, index) => {
    const result = results[index];
    if (result?.finishReason === 'stop') addForm(draft, questionIn(result.text), 'asked');
  });
}

/** Turns listed pairs whose answer is not a span yet into facts of the sentence they fit best. */
async function askForLists(
  { calls, passage: { chunks, told }, recipe: { prompts, shares } }: Lesson,
  drafts: Draft[],
  isContradicted: (...texts: readonly string[]) => boolean,
  plan: TeachingPlan,
): Promise<void> {
  const requests = chunks.map((chunk): GenerateRequest => ({
    prompt: prompts.list(chunk.text),
    adapter: null,
    maxOutputTokens: rules.maxListTokens,
    temperature: 0,
  }));
  const results = await calls.generate(requests, shares.teaching);
  for (const [index, chunk] of chunks.entries()) {
    for (const { question, answer: given } of parseList(results[index]?.text ?? '')) {
      const answer = bareAnswer(question, given, prompts.notStated);
      const sentence = sentenceOf(chunk, question, answer);
      if (sentence === null || sameAnswer(answer, prompts.notStated) || isContradicted(question, answer)) continue;
      const known = drafts.find((draft) => draft.sentenceStart === sentence.start && agrees(draft.answer, answer));
      // A sentence that was made of a cell tells its value, and nothing else.
      if (told?.has(sentence.text.trim()) === true) continue;
      if (known === undefined && drafts.length >= plan.factCount) continue;
      const draft = known ?? {
        chunk: index,
        sentenceStart: sentence.start,
        answer,
        salience: rules.listedSalience,
        cloze: [],
        derived: [],
        tabled: null,
        relations: [],
        keywords: [],
        about: drafts.find(({ sentenceStart }) => sentenceStart === sentence.start)?.about ?? sentence.text,
        needed: neededWords(sentence, placeOf(answer, sentence)),
        document: drafts.find(({ sentenceStart }) => sentenceStart === sentence.start)?.document ?? null,
        forms: new Map(),
      };
      if (known === undefined) drafts.push(draft);
      addForm(draft, question, 'listed');
    }
  }
}

/** The sentence that contains the answer and shares most words with the question. */
function sentenceOf(chunk: Chunk, question: string, answer: string): TextRange | null {
  const asked = new Set(questionKey(question).split(' '));
  let best: { sentence: TextRange; shared: number } | null = null;
  for (const sentence of chunk.sentences) {
    if (!containsWords(sentence.text, answer)) continue;
    const shared = questionKey(sentence.text)
      .split(' ')
      .filter((word) => asked.has(word)).length;
    if (best === null || shared > best.shared) best = { sentence, shared };
  }
  return best?.sentence ?? null;
}

function placeOf(answer: string, { start, text }: TextRange): { readonly start: number; readonly end: number } {
  const at = start + Math.max(0, text.toLowerCase().indexOf(answer.toLowerCase()));
  return { start: at, end: at + answer.length };
}

/** Asks for one rephrasing of every fact, of one of its forms in turn. False if none was affordable. */
async function rephraseEach(
  { calls, recipe, seed }: SeededLesson,
  drafts: readonly Draft[],
  round: number,
): Promise<boolean> {
  // A rephrasing is not rephrased again: each step away from the first question loses a little more of it.
  const sources = drafts.map((draft) => {
    const first = [...draft.forms.values()].filter((form) => !isOf(form, 'rephrased'));
    return first[(round - 1) % first.length]?.question ?? '';
  });
  const requests = drafts.map((draft, index) =>
    rephraseRequest(
      recipe,
      sources[index] ?? '',
      deriveSeed(seed, 'rephrase', round, draft.sentenceStart, draft.answer),
    ),
  );
  const results = await calls.generate(requests, recipe.shares.teaching);
  drafts.forEach((draft, index) => {
    const result = results[index];
    const source = sources[index] ?? '';
    const question = result?.finishReason === 'stop' ? questionIn(result.text) : '';
    if (question !== '' && keepsNames(source, question, draft.answer)) addForm(draft, question, 'rephrased');
  });
  return results.some((result) => result !== null);
}

function addToldForms(draft: Draft, { restated, asked, test }: ToldQuestions): void {
  addForm(draft, restated, 'restated');
  for (const question of asked) addForm(draft, question, 'tabled');
  if (test !== undefined) addForm(draft, test, 'tested');
}

function addForm(draft: Draft, text: string, origin: FormOrigin, relation?: string): void {
  const question = text.trim();
  // About a document a small teacher asks much that has nothing to do with the sentence.
  const isOwn = draft.document !== null && (origin === 'asked' || origin === 'listed' || origin === 'rephrased');
  if (isOwn && !isOfItsWords(question, draft.about, draft.document.title)) return;
  // A question of the passage itself stands as its author put it.
  if (origin !== 'stated' && !hasAll(question, draft.needed)) return;
  if (isQuestion(question, draft.answer) && namesOnly(question, draft.about)) {
    const key = questionKey(question);
    if (!draft.forms.has(key))
      draft.forms.set(key, { ...formOf(question, origin), ...(relation === undefined ? {} : { relation }) });
  }
}

/** Leaves out questions that name a value about which the passage contradicts itself: "What costs 49 dollars?" */
function finished(draft: Draft, isContradicted: (question: string) => boolean): Fact {
  const cloze = draft.cloze.map((question) => formOf(question, 'cloze'));
  const keywords = draft.keywords.map((question) => formOf(question, 'keywords'));
  return {
    chunk: draft.chunk,
    sentenceStart: draft.sentenceStart,
    answer: draft.answer,
    salience: draft.salience,
    forms: [...draft.forms.values(), ...keywords, ...cloze].filter(({ question }) => !isContradicted(question)),
  };
}
