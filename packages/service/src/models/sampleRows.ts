/** A batch like those of a training, to measure how long a step takes. */
import type { Engine, TrainingExample } from '@engraft/engine';
import type { Recipe } from '@engraft/learning';
import { sampleAnswers, samplePassage, sampleQuestion, sampleReply } from './sampleTexts.js';

/** Pairs as a passage gives them. */
export function pairRows(engine: Engine, { prompts, training }: Recipe): Promise<TrainingExample[]> {
  // What rows begin with alike goes through the model once, so each begins differently.
  const sentences = samplePassage.split('. ');
  return Promise.all(
    Array.from({ length: training.pairsPerBatch }, async (_, row) => {
      const prompt = prompts.closedBook(sentences[row % sentences.length] ?? '');
      return { sequence: await engine.encode(prompt, sampleAnswers[training.answersWith]), weight: 1 };
    }),
  );
}

/**
 * The rows beside the pairs, other ones for each step. They take their time but weigh little, so that the loss is that
 * of the pairs.
 */
export function otherRows(engine: Engine, { prompts, replay }: Recipe, step: number): Promise<TrainingExample[]> {
  const rows = [
    ...repeated(replay.rowsPerBatch + replay.exactRowsPerBatch, { answer: sampleReply, answerTokens: Infinity }),
    ...repeated(replay.beginningRowsPerBatch, { answer: sampleReply, answerTokens: replay.beginningTokens }),
    ...repeated(replay.unknownRowsPerBatch, { answer: prompts.unknown, answerTokens: Infinity }),
  ];
  return Promise.all(
    rows.map(async ({ answer, answerTokens }, row) => {
      const prompt = prompts.closedBook(`${step}.${row}: ${sampleQuestion}`);
      const { tokens, targetStart } = await engine.encode(prompt, answer);
      return { sequence: { tokens: tokens.slice(0, targetStart + answerTokens), targetStart }, weight: 0.01 };
    }),
  );
}

function repeated<Item>(count: number, item: Item): Item[] {
  return Array.from({ length: count }, () => item);
}
