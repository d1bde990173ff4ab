// Paragraphs of a SQuAD file that neither a teacher was trained on nor a choice was made by.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parseParagraphs, splitByTitle, squadPassages } from '../../packages/evaluation/dist/index.js';
import { spreadSample } from '../../packages/learning/dist/index.js';

const [shortest, longest] = [300, 1500];

/** @throws naming the line and the field that is wrong. */
export function readParagraphs(file) {
  const bytes = readFileSync(file);
  const set = parseParagraphs((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8'));
  if (set.kind === 'read') return set.paragraphs;
  throw new Error(`${file}, line ${set.line}, ${set.field}: ${set.message}`);
}

/**
 * Passages of 300 to 1,500 characters, evenly over the titles that `splitByTitle` keeps apart: for reporting, or of the
 * other half of these titles, for choosing.
 * @param {{ count: number, development: boolean }} options
 */
export function chooseParagraphs(paragraphs, { count, development }) {
  const ofHalf = squadPassages(
    splitByTitle(paragraphs).heldOut.filter(({ title }) => isForReporting(title) !== development),
  );
  const fitting = ofHalf.filter(({ passage }) => passage.length >= shortest && passage.length <= longest);
  return spreadSample(fitting, count);
}

/**
 * An even hash. Not the one of `splitByTitle`: it is FNV-1a, whose lowest bit says no more than the parity of the
 * letters, and that is the same for all titles kept apart.
 */
export function isForReporting(title) {
  return createHash('sha256').update(title).digest()[0] % 2 === 0;
}
