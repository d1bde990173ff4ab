/** The losses of the sequences by which servers are known. The embedded engine computes them once. */
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ModelFront, TrainingHost } from '@engraft/engine';
import { z } from 'zod';
import type { Identity } from './identity.js';

const lossList = z.array(z.number());

/**
 * Reads it from `folder`, or opens a training of a fresh adapter, which changes nothing yet, and keeps what comes out.
 * @throws EngineError as `openTraining`
 */
export async function identityOf(
  front: Pick<ModelFront, 'describe' | 'probeSequences'>,
  trainer: Pick<TrainingHost, 'openTraining'>,
  folder: string,
): Promise<Identity> {
  const { contentHash, contextLength } = await front.describe();
  const sequences = await front.probeSequences();
  const file = path.join(folder, `losses-${contentHash.replace(':', '-')}.json`);
  const kept = await readLosses(file);
  const losses = kept?.length === sequences.length ? kept : await computeLosses(trainer, sequences);
  if (losses !== kept) await keep(file, losses);
  return { contextLength, sequences: sequences.map(({ tokens }) => tokens), losses };
}

async function readLosses(file: string): Promise<readonly number[] | null> {
  try {
    return lossList.safeParse(JSON.parse(await readFile(file, 'utf8'))).data ?? null;
  } catch {
    return null;
  }
}

async function computeLosses(
  trainer: Pick<TrainingHost, 'openTraining'>,
  sequences: Awaited<ReturnType<ModelFront['probeSequences']>>,
): Promise<readonly number[]> {
  const training = await trainer.openTraining({ parent: null, rank: 1, alpha: 1, seed: 1 });
  try {
    const losses: number[] = [];
    for (const sequence of sequences) losses.push((await training.evaluate([{ sequence, weight: 1 }])).loss);
    return losses;
  } finally {
    await training.close();
  }
}

/** Keeps nothing where not even the folder above is there: somebody only looks whether a setting is right. */
async function keep(file: string, losses: readonly number[]): Promise<void> {
  const folder = path.dirname(file);
  if (!(await exists(path.dirname(folder)))) return;
  await mkdir(folder, { recursive: true });
  const passing = `${file}.${process.pid}`;
  await writeFile(passing, JSON.stringify(losses));
  await rename(passing, file);
}

function exists(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  );
}
