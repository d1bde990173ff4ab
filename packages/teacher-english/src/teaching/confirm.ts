import type { GenerateRequest } from '@engraft/engine';
import {
  agrees,
  containsWords,
  isOnlyTrained,
  isTrusted,
  sameAnswer,
  windowOfFact,
  withoutAmbiguity,
  type Fact,
  type Form,
} from '@engraft/learning/parts';
import { isOf, recognised } from '../forms.js';
import { isDocument } from '../questions/documentProse.js';
import { fitsQuestionWord } from '../questions/questionWord.js';
import { rules } from '../rules.js';
import { findSpans, kindOfAnswer } from '../spans/spans.js';
import { bareAnswer } from './bareAnswer.js';
import type { Lesson } from './lesson.js';

/**
 * Reads every question back and keeps those that the teacher answers as expected. It keeps a fact if the teacher
 * answers any question with it, or the words of its sentence, or if people very likely ask for it.
 */
export async function confirm(lesson: Lesson, facts: readonly Fact[]): Promise<Fact[]> {
  const { enoughForms, minFormsPerFact } = lesson.recipe.teaching;
  const readBack = await readQuestions(lesson, facts);
  const { notStated } = lesson.recipe.prompts;
  const { text, told = new Map() } = lesson.passage;
  const confirmedFacts = facts.map((fact, index) => {
    return confirmed(fact, readBack[index] ?? new Map(), { notStated, isDocument: isDocument(text, told) });
  });
  const saved = await savedByKeywords(lesson, confirmedFacts);
  return withoutAmbiguity(saved)
    .map(sureByWords)
    .filter(({ forms }) => forms.some(isTrusted))
    .map((fact) => withoutNeedlessRephrasings(fact, enoughForms))
    .map((fact) => withClozeAsComplement(fact, minFormsPerFact));
}

/**
 * The teacher's answers to all questions, except the later wordings of a relation if it answered none of the
 * first as expected. Most relations do not hold, and scoring spends its time on reading.
 */
async function readQuestions(lesson: Lesson, facts: readonly Fact[]): Promise<Map<string, string>[]> {
  const first = await readForms(lesson, facts, readFirst);
  const rest = await readForms(lesson, facts, ({ forms, answer }, index) => {
    const isRight = ({ question }: Form): boolean => agrees(first[index]?.get(question) ?? '', answer);
    const holding = new Set(forms.filter(isRight).map(({ relation }) => relation));
    return forms.filter((form) => wordingNumber(forms, form) >= rules.templatesTried && holding.has(form.relation));
  });
  return first.map((answers, index) => new Map([...answers, ...(rest[index] ?? [])]));
}

/** The questions of a fact that are always read back. Those of a table are right without it. */
function readFirst({ forms }: Fact): Form[] {
  return forms.filter(
    (form) => !isOnlyTrained(form) && !isOfTable(form) && wordingNumber(forms, form) < rules.templatesTried,
  );
}

function isOfTable(form: Form): boolean {
  return isOf(form, 'tabled') || isOf(form, 'tested');
}

/** The index of a form among the wordings of its relation. It is also 0 for a form without a relation. */
function wordingNumber(forms: readonly Form[], form: Form): number {
  if (form.relation === undefined) return 0;
  return forms.filter(({ relation }) => relation === form.relation).indexOf(form);
}

/**
 * The teacher's greedy answer to every chosen question, by question. It goes over the facts in rounds, so that the
 * money ends evenly.
 */
async function readForms(
  { calls, passage, recipe }: Lesson,
  facts: readonly Fact[],
  choose: (fact: Fact, index: number) => readonly Form[],
): Promise<Map<string, string>[]> {
  const questions = facts.map(choose);
  const most = Math.max(0, ...questions.map((forms) => forms.length));
  const { prompts, shares, teaching } = recipe;
  const asked: { index: number; fact: Fact; question: string }[] = [];
  for (let round = 0; round < most; round++) {
    for (const [index, fact] of facts.entries()) {
      const form = questions[index]?.[round];
      if (form !== undefined) asked.push({ index, fact, question: form.question });
    }
  }
  const requests = asked.map(({ fact, question }): GenerateRequest => ({
    prompt: prompts.reading(windowOfFact(passage.chunks, fact), question),
    adapter: null,
    maxOutputTokens: teaching.maxAnswerTokens,
    temperature: 0,
  }));
  const results = await calls.generate(requests, shares.scoring);
  const answers = facts.map(() => new Map<string, string>());
  asked.forEach(({ index, question }, place) => {
    const result = results[place];
    if (result?.finishReason !== 'stop') return;
    answers[index]?.set(question, bareAnswer(question, result.text.trim(), prompts.notStated));
  });
  return answers;
}

/**
 * The fact with the questions that the teacher answers as expected. A question made by rule is right more often than a
 * small teacher reads well. So it also stays if the teacher finds no answer, or one that cannot answer such a question;
 * another answer refutes it. In a document, which a small teacher reads worse, only an answer of the same kind does.
 */
function confirmed(
  fact: Fact,
  readBack: ReadonlyMap<string, string>,
  { notStated, isDocument }: { readonly notStated: string; readonly isDocument: boolean },
): Fact {
  const forms = fact.forms.flatMap((form): Form[] => {
    const { question } = form;
    const answer = readBack.get(question);
    if (isOnlyTrained(form) || isOfTable(form)) return [form];
    if (answer !== undefined && agrees(answer, fact.answer)) return [form];
    if (answer === undefined) return [];
    const isUnanswered =
      sameAnswer(answer, notStated) ||
      !fitsQuestionWord(question, answer) ||
      (isDocument && !hasKindOf(fact.answer, answer));
    return isOf(form, 'derived') && isUnanswered ? [{ ...form, unanswered: true }] : [];
  });
  const templates = new Set(bestTemplates(fact, forms));
  return {
    ...fact,
    // Nobody asks for a part of a value.
    salience: [...readBack.values()].some((answer) => isPartOf(fact.answer, answer)) ? 0 : fact.salience,
    forms: forms.filter((form) => form.relation === undefined || templates.has(form)),
  };
}

/** Whether an answer holds a value of the kind of another. A phrase is of no kind. */
function hasKindOf(value: string, answer: string): boolean {
  const kind = kindOfAnswer(value);
  const range = { start: 0, end: answer.length, text: answer };
  return kind === 'phrase' || findSpans(range, answer).some((span) => span.kind === kind);
}

/** "5 kg" in the answer "2.5 kg". */
function isPartOf(value: string, answer: string): boolean {
  return /\d/u.test(value) && answer.includes(value) && !containsWords(answer, value);
}

/**
 * Saves a fact that nobody could ask for, or whose questions were all refuted, if the teacher answers the words of
 * its own sentence with it. If it answers words with something else, they ask for that.
 */
async function savedByKeywords(lesson: Lesson, facts: readonly Fact[]): Promise<Fact[]> {
  const { notStated } = lesson.recipe.prompts;
  const isLost = ({ forms }: Fact): boolean => forms.every(isOnlyTrained);
  const answers = await readForms(lesson, facts, (fact) => (isLost(fact) ? firstKeywords(fact) : []));
  return facts.map((fact, index) => {
    const readBack = answers[index];
    const forms = fact.forms.flatMap((form): Form[] => {
      const answer = readBack?.get(form.question);
      if (answer === undefined || sameAnswer(answer, notStated)) return [form];
      return agrees(answer, fact.answer) ? [recognised(form)] : [];
    });
    return { ...fact, forms };
  });
}

function firstKeywords({ forms }: Fact): Form[] {
  return forms.filter((form) => isOf(form, 'keywords')).slice(0, rules.keywordsReadBack);
}

/**
 * The confirmed wordings of relations whose wordings were mostly confirmed, up to `rules.templatesPerFact`. Relations
 * with the largest share come first.
 */
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
    .slice(0, rules.templatesPerFact);
}

/** Trusts some of the fact's words as a question, if people very likely ask for it and nothing else was confirmed. */
function sureByWords(fact: Fact): Fact {
  if (fact.salience < rules.sureSalience || fact.forms.some(isTrusted)) return fact;
  const words = firstKeywords(fact);
  return {
    ...fact,
    forms: fact.forms.map((form) => (words.includes(form) ? recognised(form) : form)),
  };
}

/** A small teacher's rephrasings are its weakest questions, so they only fill up. */
function withoutNeedlessRephrasings(fact: Fact, enoughForms: number): Fact {
  const others = fact.forms.filter((form) => isTrusted(form) && !isOf(form, 'rephrased'));
  if (others.length < enoughForms) return fact;
  return { ...fact, forms: fact.forms.filter((form) => !isOf(form, 'rephrased')) };
}

/** Adds cloze forms only if there are few questions. They cost as much as questions, and teach less. */
function withClozeAsComplement(fact: Fact, minForms: number): Fact {
  const questions = fact.forms.filter((form) => !isOf(form, 'cloze'));
  return questions.length < minForms ? fact : { ...fact, forms: questions };
}
