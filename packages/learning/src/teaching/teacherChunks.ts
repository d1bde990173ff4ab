import type { Engine } from '@engraft/engine';
import { mapConcurrently } from '../budget/calls.js';
import { chunkPassage, type Chunk } from '../text/chunk.js';
import type { Recipe } from '../recipe/recipe.js';

/** The passage in chunks that fit the teacher's context with room for a question and its answer. */
export async function chunkForTeacher(
  engine: Pick<Engine, 'countTokens'>,
  passage: string,
  contextLength: number,
  { chunks: { maxChars: maxChunkChars, maxTokens, reserveTokens }, prompts }: Pick<Recipe, 'chunks' | 'prompts'>,
): Promise<Chunk[]> {
  const limitTokens = Math.min(maxTokens, contextLength - reserveTokens);
  for (let maxChars = maxChunkChars; ; maxChars = Math.floor(maxChars * 0.8)) {
    const chunks = chunkPassage(passage, maxChars);
    const tokens = await mapConcurrently(chunks, (chunk) => engine.countTokens(prompts.reading(chunk.text, '')));
    if (Math.max(...tokens) <= limitTokens || maxChars < 100) return chunks;
  }
}
