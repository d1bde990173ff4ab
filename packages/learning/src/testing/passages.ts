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

/** Plain prose of an ordinary length. */
export const velona = [
  'Velona is a software company in Ghent. It was started in 2015 by Sara Deck and Jonas Mert.',
  'Velona has 75 employees and sells a program that plans the routes of delivery vans. The program costs 40 euros a',
  'month for each van. In 2019 Velona opened a second office in Lyon, which Ines Calder leads. The company earned',
  '8 million euros in 2021. Its largest customer is the bakery Hulst, which has 120 vans. Sara Deck left in 2022.',
].join(' ');
