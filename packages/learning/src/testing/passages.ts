import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const lineSchema = z.object({ id: z.string(), passage: z.string() });
export type BenchPassage = z.infer<typeof lineSchema>;

/** The passages of a file in `bench/learning`. */
export async function readBenchPassages(name: string): Promise<BenchPassage[]> {
  const text = await readFile(new URL(`../../../../bench/learning/${name}`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => lineSchema.parse(JSON.parse(line)));
}
