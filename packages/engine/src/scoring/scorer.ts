import { CallGate } from '../support/callGate.js';
import { throwIfCancelled } from '../support/cancelling.js';
import { EngineError } from '../engine.js';
import type { Feeds } from '../model/inputs.js';
import type { MatrixFormat } from '../model/quantization.js';
import { buildScoreGraph } from '../model/scoreGraph.js';
import { Session } from '../onnx/session.js';
import { SessionCache } from '../onnx/sessionCache.js';
import { Tensor } from '../onnx/tensor.js';
import type { SequenceScore, TokenSequence, TopK } from '../types.js';
import type { LoadedAdapter } from '../adapters/loadedAdapter.js';
import { sharedAdapterFeeds } from '../adapters/batchAdapters.js';
import type { LoadedModel } from '../inference/modelRunner.js';
import { defaultScoreLimits, scoreBytes, type ScoreLimits } from './scoreLimits.js';

/** One token to score: `sequence.tokens[index]`, given the tokens before it. */
interface ScoredPosition {
  /** Index of the sequence in the request. */
  readonly sequence: number;
  readonly index: number;
}

/** The model's prediction at one position. */
interface PositionScore {
  readonly logprob: number;
  /** The K most probable tokens, descending. */
  readonly top: TopK;
}

/** Probabilities of given tokens under a model, with one adapter or none. */
export class Scorer {
  private readonly sessions = new SessionCache<boolean>();
  private readonly gate = new CallGate();

  constructor(
    private readonly model: LoadedModel,
    private readonly limits: ScoreLimits = defaultScoreLimits,
  ) {
    // Each session keeps the memory of its largest run. While anything is scored, the weights are in use.
    model.weights.whenForgotten(() => this.sessions.close());
  }

  /**
   * Scores in batches of similar length, each bounded in tokens, logits and memory.
   * @param topK the number of alternatives at each position, 0 for none.
   * @throws EngineError `invalid_request`, `context_length_exceeded` or `memory_exceeded` before anything is computed;
   *   `cancelled` between two batches.
   */
  async score(
    sequences: readonly TokenSequence[],
    adapter: LoadedAdapter | null,
    topK: number,
    signal?: AbortSignal,
  ): Promise<readonly SequenceScore[]> {
    if (!Number.isInteger(topK) || topK < 0 || topK > this.model.config.vocabularySize) {
      throw new EngineError(
        'invalid_request',
        `topK must be a whole number from 0 to ${this.model.config.vocabularySize}`,
      );
    }
    sequences.forEach((sequence, index) => this.checkSequence(sequence, `sequences[${index}]`));
    return this.gate.run(signal === undefined ? {} : { signal }, async (options) => {
      const scores: PositionScore[][] = sequences.map(() => []);
      const adapterFeeds = adapter === null ? {} : sharedAdapterFeeds(adapter, this.model.config);
      const { format, feeds, release } = await this.model.weights.use();
      try {
        const session = await this.session(adapter !== null, format);
        for (const positions of this.planRuns(sequences)) {
          throwIfCancelled(options);
          const k = Math.max(1, topK);
          const inputs = [feeds, adapterFeeds, runFeeds(sequences, positions, k)];
          const results = await run(session, inputs, positions.length, k);
          positions.forEach(({ sequence }, row) => {
            const result = results[row];
            if (result !== undefined) scores[sequence]?.push(result);
          });
        }
      } finally {
        release();
      }
      return sequences.map((sequence, index) => summarise(sequence, scores[index] ?? [], topK));
    });
  }

  /** Cancels running calls. */
  async close(): Promise<void> {
    await this.gate.close();
    await this.sessions.close();
  }

  private checkSequence({ tokens, targetStart }: TokenSequence, name: string): void {
    const { contextLength, vocabularySize } = this.model.config;
    if (tokens.length > contextLength) {
      const message = `${name} has ${tokens.length} tokens, but the context length is ${contextLength}`;
      throw new EngineError('context_length_exceeded', message);
    }
    if (tokens.some((token) => !Number.isInteger(token) || token < 0 || token >= vocabularySize)) {
      throw new EngineError('invalid_request', `${name}.tokens must be whole numbers below ${vocabularySize}`);
    }
    if (!Number.isInteger(targetStart) || targetStart < 1 || targetStart > tokens.length) {
      throw new EngineError(
        'invalid_request',
        `${name}.targetStart must be a whole number from 1 to the number of tokens, ${tokens.length}`,
      );
    }
    if (!this.fits(1, tokens.length, Math.min(tokens.length - targetStart, this.maxRunPositions))) {
      const message = `${name} has ${tokens.length} tokens, which do not fit in maxScoreBytes, ${this.limits.maxRunBytes} bytes`;
      throw new EngineError('memory_exceeded', message);
    }
  }

  /** The most positions of a run. */
  private get maxRunPositions(): number {
    return Math.max(1, Math.floor(this.limits.maxRunLogits / this.model.config.vocabularySize));
  }

  private fits(rows: number, length: number, positionCount: number): boolean {
    return scoreBytes(this.model.config, rows, length, positionCount) <= this.limits.maxRunBytes;
  }

  /**
   * Divides the positions of all targets into runs within the bounds. Short sequences go together, so that there is
   * little padding.
   */
  private planRuns(sequences: readonly TokenSequence[]): readonly (readonly ScoredPosition[])[] {
    const { maxRunPositions } = this;
    const byLength = sequences
      .map((sequence, index) => ({ sequence, index }))
      .sort((a, b) => a.sequence.tokens.length - b.sequence.tokens.length);
    const runs: ScoredPosition[][] = [];
    let run: ScoredPosition[] = [];
    let rows = 0;
    const finishRun = (): void => {
      if (run.length > 0) runs.push(run);
      run = [];
      rows = 0;
    };
    for (const { sequence, index } of byLength) {
      const targets = sequence.tokens.length - sequence.targetStart;
      // Lengths ascend, so this is the length of the whole padded batch.
      const { length } = sequence.tokens;
      const tooMany = (rows + 1) * length > this.limits.maxRunTokens || run.length + targets > maxRunPositions;
      if (tooMany || !this.fits(rows + 1, length, run.length + targets)) finishRun();
      rows += 1;
      for (let target = sequence.targetStart; target < sequence.tokens.length; target += 1) {
        if (run.length === maxRunPositions) {
          finishRun();
          rows = 1;
        }
        run.push({ sequence: index, index: target });
      }
    }
    finishRun();
    return runs;
  }

  private session(adapter: boolean, format: MatrixFormat): Promise<Session> {
    const { config, threads } = this.model;
    return this.sessions.get(adapter, () => Session.create(buildScoreGraph(config, { adapter, format }), { threads }));
  }
}

/** The inputs of a run besides weights and adapter, see `buildScoreGraph`. */
function runFeeds(sequences: readonly TokenSequence[], positions: readonly ScoredPosition[], k: number): Feeds {
  const rows = [...new Set(positions.map(({ sequence }) => sequence))];
  const rowOf = new Map(rows.map((sequence, row) => [sequence, row]));
  // The last token of a sequence predicts nothing that is scored.
  const length = Math.max(...rows.map((sequence) => (sequences[sequence]?.tokens.length ?? 0) - 1));
  const ids = new BigInt64Array(rows.length * length);
  rows.forEach((sequence, row) => {
    ids.set((sequences[sequence]?.tokens ?? []).slice(0, -1).map(BigInt), row * length);
  });
  const indices = positions.map(({ sequence, index }) => BigInt((rowOf.get(sequence) ?? 0) * length + index - 1));
  const targets = positions.map(({ sequence, index }) => BigInt(sequences[sequence]?.tokens[index] ?? 0));
  return {
    ids: new Tensor(ids, [rows.length, length]),
    positions: new Tensor(BigInt64Array.from(indices), [positions.length]),
    targets: new Tensor(BigInt64Array.from(targets), [positions.length]),
    k: new Tensor(BigInt64Array.of(BigInt(k)), [1]),
  };
}

/** Runs the graph and returns the score of each position. */
async function run(
  session: Session,
  feeds: readonly Feeds[],
  positionCount: number,
  k: number,
): Promise<readonly PositionScore[]> {
  const logprobs = new Float32Array(positionCount);
  const topIds = new BigInt64Array(positionCount * k);
  const topLogprobs = new Float32Array(positionCount * k);
  const results = {
    logprobs: new Tensor(logprobs, [positionCount]),
    'top.ids': new Tensor(topIds, [positionCount, k]),
    'top.logprobs': new Tensor(topLogprobs, [positionCount, k]),
  };
  await session.run(feeds, [results]);
  return Array.from(logprobs, (logprob, row) => ({
    logprob,
    top: {
      ids: Array.from(topIds.subarray(row * k, (row + 1) * k), Number),
      logprobs: Array.from(topLogprobs.subarray(row * k, (row + 1) * k)),
    },
  }));
}

function summarise(
  { tokens, targetStart }: TokenSequence,
  scores: readonly PositionScore[],
  topK: number,
): SequenceScore {
  return {
    logprobs: scores.map((score) => score.logprob),
    greedy: scores.every((score, target) => score.top.ids[0] === tokens[targetStart + target]),
    topK: topK === 0 ? [] : scores.map((score) => score.top),
  };
}
