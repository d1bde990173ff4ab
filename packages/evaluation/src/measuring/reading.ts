/** Asks base a passage's questions with the passage before it. */
import type { Engine } from '@engraft/engine';
import { instructedPrompts, type Recipe } from '@engraft/learning';
import { chunkForTeacher, containsWords, questionKey } from '@engraft/learning/parts';
import { ask, tally, type AskedPhrasing, type AskingOptions, type Tally } from './asking.js';

export interface Reader extends AskingOptions {
  readonly recipe: Recipe;
  /** Tokens. */
  readonly contextLength: number;
}

/** Reads with the recipe's prompts, and with those that instruct. */
export async function readPassage(
  engine: Engine,
  passage: string,
  asked: readonly AskedPhrasing[],
  { recipe, contextLength, ...asking }: Reader,
): Promise<{ readonly tallies: Tally[]; readonly inChunks: boolean }> {
  const { prompts } = recipe;
  const promptTokens = await engine.countTokens(prompts.reading(passage, longestOf(asked)));
  const inChunks = promptTokens + asking.maxAnswerTokens > contextLength;
  const texts = inChunks
    ? (await chunkForTeacher(engine, passage, contextLength, recipe)).map(({ text }) => text)
    : [passage];
  const tallies: Tally[] = [];
  for (const { reading } of [prompts, instructedPrompts]) {
    const readings = asked.map((phrasing) => reading(bestText(texts, phrasing), phrasing.question));
    tallies.push(tally(asked, await ask(engine, readings, null, asking)));
  }
  return { tallies, inChunks };
}

function longestOf(asked: readonly AskedPhrasing[]): string {
  return asked.reduce((longest, { question }) => (question.length > longest.length ? question : longest), '');
}

/** The text that holds the answer and shares most words with the question. The first text, if none holds it. */
function bestText(texts: readonly string[], { question, answers }: AskedPhrasing): string {
  const words = questionKey(question).split(' ');
  const sharedWith = (text: string): number => words.filter((word) => containsWords(text, word)).length;
  const holding = texts.filter((text) => answers.some((answer) => containsWords(text, answer)));
  const ranked = holding.map((text) => ({ text, shared: sharedWith(text) })).sort((a, b) => b.shared - a.shared);
  return ranked[0]?.text ?? texts[0] ?? '';
}
