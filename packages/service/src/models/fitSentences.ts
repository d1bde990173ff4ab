import type { ExpectedWork } from '@engraft/learning';
import { formatBytes } from '../formatBytes.js';

export interface ModelMemory {
  /** The most memory that answering takes. */
  readonly servingBytes: number;
  /** Memory that learning takes in addition. */
  readonly learningBytes: number;
  /** `false` if it follows from the model's shape. */
  readonly isMeasured: boolean;
}

/** The needs of a model on this machine. */
export interface ModelFit {
  readonly memory: ModelMemory;
  readonly secondsPerThousandCharacters: number;
  /** The work of learning a passage of 1,000 characters. */
  readonly work: ExpectedWork;
  /** Output tokens per second for one answer at a time, including the time for its prompt. */
  readonly writtenPerSecond: number;
}

/** A common length. */
const answerTokens = 50;

export function fitSentences(fit: ModelFit, machineBytes: number): string[] {
  const { memory, secondsPerThousandCharacters, work, writtenPerSecond } = fit;
  const about = memory.isMeasured ? '' : 'about ';
  const needed = memory.servingBytes + memory.learningBytes;
  const serving = `Serving takes ${about}${formatBytes(memory.servingBytes)} of memory`;
  const tooMuch = needed > machineBytes ? `, so it cannot learn here` : '';
  const tokens = (count: number): string => (100 * Math.round(count / 100)).toLocaleString('en-US');
  return [
    `${serving}, learning ${about}${formatBytes(memory.learningBytes)} more; ` +
      `there are ${formatBytes(machineBytes)}${tooMuch}.`,
    `1,000 characters take about ${describeSeconds(secondsPerThousandCharacters)} to learn: some ` +
      `${tokens(work.readTokens)} tokens are read, ${tokens(work.writtenTokens)} written, ` +
      `and there are ${work.steps} steps of training.`,
    `An answer of ${answerTokens} tokens takes about ${describeSeconds(answerTokens / writtenPerSecond)}.`,
  ];
}

/** No more exact than an estimate. */
export function describeSeconds(seconds: number): string {
  if (seconds < 10) return `${Math.max(0.1, Math.round(seconds * 10) / 10)} seconds`;
  if (seconds < 100) return `${5 * Math.round(seconds / 5)} seconds`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3600)} hours`;
}
