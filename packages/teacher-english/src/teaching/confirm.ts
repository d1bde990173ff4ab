import type { AdapterReference, GenerateRequest, SequenceScore } from '@engraft/engine';
import { bareAnswer } from './bareAnswer.js';
import { mapConcurrently, type MeteredCalls, type ScoreCall } from '../metering/calls.js';
import type { Chunk } from '../text/chunk.js';
import { isOnlyTrained, isTrusted, questionKey, type Fact, type Form } from '../facts.js';
import { agrees, containsWords, normalise, sameAnswer } from '../text/normalise.js';
import { fitsQuestionWord } from '../questions/questionWord.js';
import { closedBookPrompt, notStated, readingPrompt } from '../prompts.js';
import { recipe } from '../recipe.js';
import { windowOf } from '../text/window.js';

/** A fact whose questions the teacher answered alike with the passage before it. */
export interface ScoredFact extends Fact {
  /** Nats a token that the passage adds to the answer's mean log-probability; `null` when it was not measured. */
  readonly gainNats: number | null;
  /** The teacher's alternatives at each token of the answer, the end of turn included. */
  readonly softTargets: SequenceScore['topK'] | null;
}

/** Reads every question back, keeps those that the teacher answers as expected, and measures what the passage adds. */
export async function score(
  calls: MeteredCalls,
  chunks: readonly Chunk[],
  facts: readonly Fact[],
  parent: AdapterReference | null,
): Promise<ScoredFact[]> {
  const readBack = await readQuestions(calls, chunks, facts);
  const confirmedFacts = facts.map((fact, index) => confirmed(fact, readBack[index] ?? new Map()));
  const saved = await savedByKeywords(calls, chunks, confirmedFacts);
  const kept = withoutAmbiguity(mergeSame(saved)).map(withoutNeedlessRephrasings).map(withClozeAsComplement);
  return measureGain(calls, chunks, kept, parent);
}

/**
 * The teacher's answers to all questions but the later wordings of a relation of which it answered none of the first ones as expected:
 * most relations do not hold, and reading is what scoring spends its time on.
 */
async function readQuestions(
  calls: MeteredCalls,
  chunks: readonly Chunk[],
  facts: readonly Fact[],
): Promise<Map<string, string>[]> {
  const first = await readForms(calls, chunks, facts, readFirst);
  const rest = await readForms(calls, chunks, facts, ({ forms, answer }, index) => {
    const isRight = ({ question }: Form): boolean => agrees(first[index]?.get(question) ?? '', answer);
    const holding = new Set(forms.filter(isRight).map(({ relation }) => relation));
    return forms.filter((form) => wordingNumber(forms, form) >= recipe.templatesTried && holding.has(form.relation));
  });
  return first.map((answers, index) => new Map([...answers, ...(rest[index] ?? [])]));
}

/** The questions of a fact that are read back in any case. */
export function readFirst({ forms }: Fact): Form[] {
  return forms.filter((form) => !isOnlyTrained(form) && wordingNumber(forms, form) < recipe.templatesTried);
}

/** Which wording of its relation a form is, from 0; 0 when it is of none. */
function wordingNumber(forms: readonly Form[], form: Form): number {
  if (form.relation === undefined) return 0;
  return forms.filter(({ relation }) => relation === form.relation).indexOf(form);
}

/** The teacher's greedy answer to every chosen question, by question; in rounds over the facts, so that money ends evenly. */
async function readForms(
  calls: MeteredCalls,
  chunks: readonly Chunk[],
  facts: readonly Fact[],
  choose: (fact: Fact, index: number) => readonly Form[],
): Promise<Map<string, string>[]> {
  const questions = facts.map(choose);
  const most = Math.max(0, ...questions.map((forms) => forms.length));
  const asked: { fact: number; question: string }[] = [];
  for (let round = 0; round < most; round++) {
    for (const [fact, forms] of questions.entries()) {
      const form = forms[round];
      if (form !== undefined) asked.push({ fact, question: form.question });
    }
  }
  const requests = asked.map(({ fact, question }): GenerateRequest => ({
    prompt: readingPrompt(windowOfFact(chunks, facts[fact]), question),
    adapter: null,
    maxOutputTokens: recipe.maxAnswerTokens,
    temperature: 0,
  }));
  const results = await calls.generate(requests, recipe.scoringShare);
  const answers = facts.map(() => new Map<string, string>());
  asked.forEach(({ fact, question }, index) => {
    const result = results[index];
    if (result?.finishReason === 'stop') answers[fact]?.set(question, bareAnswer(question, result.text.trim()));
  });
  return answers;
}

/**
 * The fact with the questions that the teacher answers as expected. A question made by rule is right more often than a
 * small teacher reads well, so it also stays when the teacher finds no answer, or one that is no answer to such a question; another one
 * refutes it.
 */
function confirmed(fact: Fact, readBack: ReadonlyMap<string, string>): Fact {
  const forms = fact.forms.flatMap((form): Form[] => {
    const { question, origin } = form;
    const answer = readBack.get(question);
    if (isOnlyTrained(form)) return [form];
    if (answer === undefined) return [];
    if (agrees(answer, fact.answer)) return [form];
    const isUnanswered = sameAnswer(answer, notStated) || !fitsQuestionWord(question, answer);
    return origin === 'derived' && isUnanswered ? [{ ...form, unanswered: true }] : [];
  });
  const templates = new Set(bestTemplates(fact, forms));
  return {
    ...fact,
    // Nobody asks for a part of a value.
    salience: [...readBack.values()].some((answer) => isPartOf(fact.answer, answer)) ? 0 : fact.salience,
    forms: forms.filter((form) => form.relation === undefined || templates.has(form)),
  };
}

/** "5 kg" of an answer "2.5 kg". */
function isPartOf(value: string, answer: string): boolean {
  return /\d/u.test(value) && answer.includes(value) && !containsWords(answer, value);
}

/**
 * A fact that nobody could ask for, or of which every question was refuted, is still worth teaching when the teacher answers the words of
 * its own sentence with it. Words that it answers with something else ask for that.
 */
async function savedByKeywords(calls: MeteredCalls, chunks: readonly Chunk[], facts: readonly Fact[]): Promise<Fact[]> {
  const isLost = ({ forms }: Fact): boolean => forms.every(isOnlyTrained);
  const answers = await readForms(calls, chunks, facts, (fact) =>
    isLost(fact) ? fact.forms.filter(({ origin }) => origin === 'keywords').slice(0, recipe.keywordsReadBack) : [],
  );
  return facts.map((fact, index) => {
    const readBack = answers[index];
    const forms = fact.forms.flatMap((form): Form[] => {
      const answer = readBack?.get(form.question);
      if (answer === undefined || sameAnswer(answer, notStated)) return [form];
      return agrees(answer, fact.answer) ? [{ ...form, origin: 'recognised' }] : [];
    });
    return { ...fact, forms };
  });
}

/** The wordings of a relation that most of them were confirmed for; of several relations those with the largest share, up to `recipe.templatesPerFact`. */
function bestTemplates(fact: Fact, kept: readonly Form[]): Form[] {
  const relations = new Map<string, { asked: number; confirmed: Form[] }>();
  for (const form of fact.forms) {
    if (form.relation === undefined) continue;
    const group = relations.get(form.relation) ?? { asked: 0, confirmed: [] };
    group.asked++;
    if (kept.includes(form)) group.confirmed.push(form);
    relations.set(form.relation, group);
  }
  return [...relations.values()]
    .map((group) => ({ ...group, share: group.confirmed.length / group.asked }))
    .filter(({ share, confirmed }) => confirmed.length >= 2 && share >= 0.5)
    .sort((a, b) => b.share - a.share)
    .flatMap(({ confirmed }) => confirmed)
    .slice(0, recipe.templatesPerFact);
}

function windowOfFact(chunks: readonly Chunk[], fact: Fact | undefined): string {
  return fact === undefined ? '' : windowOf(chunks[fact.chunk], fact.sentenceStart);
}

/** Facts of one sentence with the same answer are one fact. */
function mergeSame(facts: readonly Fact[]): Fact[] {
  const merged = new Map<string, Fact>();
  for (const fact of facts) {
    const key = `${fact.sentenceStart} ${normalise(fact.answer)}`;
    const earlier = merged.get(key);
    merged.set(
      key,
      earlier === undefined
        ? fact
        : { ...earlier, salience: Math.max(earlier.salience, fact.salience), forms: [...earlier.forms, ...fact.forms] },
    );
  }
  return [...merged.values()];
}

/**
 * One question, one answer: a question that two facts answer differently is dropped, one they answer alike is kept once. What is made of a
 * sentence's words says nothing against a question that is trusted, but gives way to it; alone it stays only where people very likely ask.
 */
function withoutAmbiguity(facts: readonly Fact[]): Fact[] {
  const asked = facts.flatMap(({ answer, forms }) => forms.map((form) => ({ form, answer: normalise(answer) })));
  const [trusted, others] = [asked.filter(({ form }) => isTrusted(form)), asked.filter(({ form }) => !isTrusted(form))];
  const kept = new Set([...onlyAnswers(trusted, new Set()), ...onlyAnswers(others, keysOf(trusted))]);
  return facts
    .map((fact) => ({ ...fact, forms: fact.forms.filter((form) => kept.has(form)) }))
    .map(sureByWords)
    .filter(({ forms }) => forms.some(isTrusted));
}

/** With some of its words as what asks for it, where people very likely do and nothing else was confirmed. */
function sureByWords(fact: Fact): Fact {
  if (fact.salience < recipe.sureSalience || fact.forms.some(isTrusted)) return fact;
  const words = fact.forms.filter(({ origin }) => origin === 'keywords').slice(0, recipe.keywordsReadBack);
  return {
    ...fact,
    forms: fact.forms.map((form) => (words.includes(form) ? { ...form, origin: 'recognised' } : form)),
  };
}

interface AskedForm {
  readonly form: Form;
  readonly answer: string;
}

function keysOf(asked: readonly AskedForm[]): Set<string> {
  return new Set(asked.map(({ form }) => questionKey(form.question)));
}

/** The first form of every question that has one answer, none of those in `taken`. */
function onlyAnswers(asked: readonly AskedForm[], taken: ReadonlySet<string>): Form[] {
  const byQuestion = new Map<string, AskedForm[]>();
  for (const each of asked) {
    const key = questionKey(each.form.question);
    byQuestion.set(key, [...(byQuestion.get(key) ?? []), each]);
  }
  return [...byQuestion].flatMap(([key, [first, ...rest]]) => {
    const isOne = first !== undefined && rest.every(({ answer }) => answer === first.answer);
    return isOne && !taken.has(key) ? [first.form] : [];
  });
}

/** A rephrasing by a small teacher is the least of its questions, so it only fills up. */
function withoutNeedlessRephrasings(fact: Fact): Fact {
  const others = fact.forms.filter((form) => isTrusted(form) && form.origin !== 'rephrased');
  if (others.length < recipe.enoughForms) return fact;
  return { ...fact, forms: fact.forms.filter(({ origin }) => origin !== 'rephrased') };
}

/** Cloze forms only where questions are few: they cost as much, and teach less of what a question asks. */
function withClozeAsComplement(fact: Fact): Fact {
  const questions = fact.forms.filter(({ origin }) => origin !== 'cloze');
  return questions.length < recipe.minFormsPerFact ? fact : { ...fact, forms: questions };
}

/** Of one question a fact, since its answer is the same for all: the teacher with the passage, the parent without. */
async function measureGain(
  calls: MeteredCalls,
  chunks: readonly Chunk[],
  facts: readonly Fact[],
  parent: AdapterReference | null,
): Promise<ScoredFact[]> {
  const requests = await mapConcurrently(facts, async (fact): Promise<ScoreCall[]> => {
    const question = fact.forms.find(isTrusted)?.question ?? '';
    const reading = await calls.engine.encode(readingPrompt(windowOfFact(chunks, fact), question), fact.answer);
    const closedBook = await calls.engine.encode(closedBookPrompt(question), fact.answer);
    return [
      { sequence: reading, adapter: null, topK: recipe.softTargetK },
      { sequence: closedBook, adapter: parent, topK: 0 },
    ];
  });
  const scores = await calls.score(requests.flat(), recipe.scoringShare);
  return facts.map((fact, index) => {
    const withPassage = scores[2 * index] ?? null;
    const without = scores[2 * index + 1] ?? null;
    const gainNats = withPassage && without ? mean(withPassage.logprobs) - mean(without.logprobs) : null;
    return { ...fact, gainNats, softTargets: withPassage?.greedy === true ? withPassage.topK : null };
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
