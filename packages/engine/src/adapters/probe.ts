/**
 * A trained adapter says what it does to a few sequences, so that whoever serves it can tell whether it has it whole.
 * The sequences are random tokens: they say nothing of what was learned.
 */
import path from 'node:path';
import { openRegularFile } from '../support/boundedFile.js';
import { readMetadata } from '../checkpoint/safetensors.js';
import type { DecoderConfig } from '../model/config.js';
import { createRandom } from '../support/random.js';
import type { AdapterProbe, TokenSequence } from '../types.js';
import { adapterWeightsFile } from './contentHash.js';

const sequenceCount = 4;
const sequenceTokens = 17;
const seed = 20_260_101;
/** Its key in the metadata of `adapter_model.safetensors`. */
const metadataKey = 'engraft_probe';

/** The sequences for a model of this vocabulary. The same ones each time. */
export function probeSequences({
  vocabularySize,
  contextLength,
}: Pick<DecoderConfig, 'vocabularySize' | 'contextLength'>): readonly TokenSequence[] {
  const random = createRandom(seed);
  const length = Math.min(sequenceTokens, contextLength);
  return Array.from({ length: sequenceCount }, () => ({
    tokens: Array.from({ length }, () => Math.floor(random.next() * vocabularySize)),
    targetStart: 1,
  }));
}

/** The metadata that tells of a probe; none if there is nothing to tell. */
export function probeMetadata(probe: AdapterProbe | null): Readonly<Record<string, string>> {
  return probe === null ? {} : { [metadataKey]: JSON.stringify(probe) };
}

/** The probe that an adapter was saved with. `null` if it has none: another tool made it, or an earlier release. */
export async function readProbe(folder: string): Promise<AdapterProbe | null> {
  const file = path.join(folder, adapterWeightsFile);
  const context = { code: 'adapter_invalid', file } as const;
  const opened = await openRegularFile(file, context);
  if (opened === undefined) return null;
  try {
    const text = (await readMetadata(opened.handle, context))[metadataKey];
    return text === undefined ? null : parseProbe(text);
  } finally {
    await opened.handle.close();
  }
}

function parseProbe(text: string): AdapterProbe | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || !('sequences' in value) || !('losses' in value)) return null;
  const { sequences, losses } = value;
  const isFit = Array.isArray(losses) && losses.every(isFinite) && isTokenLists(sequences);
  return isFit && losses.length === sequences.length && losses.length > 0 ? { sequences, losses } : null;
}

function isFinite(value: unknown): value is number {
  return Number.isFinite(value);
}

function isTokenLists(value: unknown): value is readonly (readonly number[])[] {
  const isToken = (token: unknown): boolean => Number.isSafeInteger(token) && Number(token) >= 0;
  return (
    Array.isArray(value) &&
    value.every((tokens: unknown) => Array.isArray(tokens) && tokens.length > 1 && tokens.every(isToken))
  );
}
