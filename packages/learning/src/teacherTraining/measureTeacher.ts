import type { AdapterReference, ChatPrompt, Engine } from '@engraft/engine';
import { mapConcurrently } from '../metering/calls.js';
import { readingPrompt } from '../prompts.js';
import { spreadSample } from '../random.js';
import type { Paragraph } from '../squad/paragraphs.js';
import { containsWords, sameAnswer } from '../text/normalise.js';

/** How many of so many questions about paragraphs are answered, with the paragraph in the prompt. */
export interface ReadingFigures {
  readonly total: number;
  /** The answer is an accepted one after normalisation. */
  readonly exact: number;
  /** The answer contains an accepted one. */
  readonly contained: number;
}

/** One question of each of so many paragraphs, evenly over the file. */
export async function measureReading(
  engine: Engine,
  paragraphs: readonly Paragraph[],
  adapter: AdapterReference | null,
  { count = 100, prompt = readingPrompt, signal }: MeasureOptions = {},
): Promise<ReadingFigures> {
  const asked = spreadSample(paragraphs, count).flatMap(({ context, questions }, index) => {
    const answered = questions.filter(({ answers }) => answers.length > 0);
    const chosen = answered[index % Math.max(1, answered.length)];
    return chosen === undefined ? [] : [{ ...chosen, prompt: prompt(context, chosen.question) }];
  });
  const outcomes = await mapConcurrently(asked, async ({ answers, prompt: given }) => {
    const request = { prompt: given, adapter, maxOutputTokens: 48, temperature: 0 };
    const { text } = await engine.generate(request, signal === undefined ? {} : { signal });
    return {
      exact: answers.some((answer) => sameAnswer(text, answer)),
      contained: answers.some((answer) => containsWords(text, answer)),
    };
  });
  return {
    total: outcomes.length,
    exact: outcomes.filter(({ exact }) => exact).length,
    contained: outcomes.filter(({ contained }) => contained).length,
  };
}

export interface MeasureOptions {
  readonly count?: number;
  readonly prompt?: (passage: string, question: string) => ChatPrompt;
  readonly signal?: AbortSignal;
}
