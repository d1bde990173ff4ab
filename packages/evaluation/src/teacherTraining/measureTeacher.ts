import type { AdapterReference, Engine } from '@engraft/engine';
import { givesAnswer, mapConcurrently, sameAnswer } from '@engraft/learning/parts';
import { spreadSample, type Prompts } from '@engraft/learning';
import type { Paragraph } from '../squad/paragraphs.js';

const maxOutputTokens = 48;

/** Counts of answers to questions about paragraphs, asked with the paragraph in the prompt. */
export interface ReadingFigures {
  readonly total: number;
  /** Answers that equal an accepted one after normalisation. */
  readonly exact: number;
  /** Answers that give an accepted one, see `givesAnswer`. */
  readonly contained: number;
}

/**
 * Asks one question about each of `count` paragraphs, spread evenly over the file. A paragraph that does not fit into
 * the model's context is left out.
 */
export async function measureReading(
  engine: Engine,
  paragraphs: readonly Paragraph[],
  adapter: AdapterReference | null,
  { prompts, count = 100, signal }: MeasureOptions,
): Promise<ReadingFigures> {
  const asked = spreadSample(paragraphs, count).flatMap(({ context, questions }, index) => {
    const answered = questions.filter(({ answers }) => answers.length > 0);
    const chosen = answered[index % Math.max(1, answered.length)];
    return chosen === undefined ? [] : [{ ...chosen, prompt: prompts.reading(context, chosen.question) }];
  });
  const { contextLength } = await engine.describe();
  const tokens = await mapConcurrently(asked, ({ prompt }) => engine.countTokens(prompt));
  const fitting = asked.filter((_, index) => (tokens[index] ?? 0) + maxOutputTokens <= contextLength);
  const outcomes = await mapConcurrently(fitting, async ({ question, answers, prompt }) => {
    const request = { prompt, adapter, maxOutputTokens, temperature: 0 };
    const { text } = await engine.generate(request, signal === undefined ? {} : { signal });
    return {
      exact: answers.some((answer) => sameAnswer(text, answer)),
      contained: givesAnswer(question, text, answers),
    };
  });
  return {
    total: outcomes.length,
    exact: outcomes.filter(({ exact }) => exact).length,
    contained: outcomes.filter(({ contained }) => contained).length,
  };
}

export interface MeasureOptions {
  readonly prompts: Prompts;
  readonly count?: number;
  readonly signal?: AbortSignal;
}
