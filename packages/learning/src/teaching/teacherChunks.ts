import type { Engine } from '@engraft/engine';
import { mapConcurrently } from '../metering/calls.js';
import { chunkPassage, type Chunk } from '../text/chunk.js';
import { readingPrompt } from '../prompts.js';
import { recipe } from '../recipe.js';

/** The passage in chunks that fit the teacher's context with room for a question and its answer. */
export async function chunkForTeacher(engine: Engine, passage: string, contextLength: number): Promise<Chunk[]> {
  const limitTokens = Math.min(recipe.chunkMaxTokens, contextLength - recipe.chunkReserveTokens);
  for (let maxChars: number = recipe.chunkMaxChars; ; maxChars = Math.floor(maxChars * 0.8)) {
    const chunks = chunkPassage(passage, maxChars);
    const tokens = await mapConcurrently(chunks, (chunk) => engine.countTokens(readingPrompt(chunk.text, '')));
    if (Math.max(...tokens) <= limitTokens || maxChars < 100) return chunks;
  }
}
