import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** A passage, and questions whose answers it states. */
export interface Sample {
  /** As a reader finds it from the working folder. */
  readonly file: string;
  readonly passage: string;
  readonly questions: readonly Question[];
}

export interface Question {
  readonly question: string;
  readonly answer: string;
}

const folder = fileURLToPath(new URL('../../../../../examples/', import.meta.url));

const questionList = z.array(z.object({ question: z.string(), answer: z.string() })).min(1);

/** The sample that comes with Engraft. */
export async function readSample(): Promise<Sample> {
  const file = path.join(folder, 'lamp.txt');
  const questions = await readFile(path.join(folder, 'lamp.questions.json'), 'utf8');
  return {
    file: path.relative(process.cwd(), file),
    passage: await readFile(file, 'utf8'),
    questions: questionList.parse(JSON.parse(questions)),
  };
}
