import {
  EngineError,
  ModelFront,
  type EngineLogger,
  type ResumeOptions,
  type TrainingHost,
  type TrainingOptions,
  type TrainingSession,
  type TrainingStart,
} from '@engraft/engine';
import { plainBytesOf } from './http/wire.js';
import { Trainer, type Found, type Opening, type TrainerLimits } from './trainer.js';
import { TrainerSession } from './trainerSession.js';

export interface PeftTrainersOptions {
  /** The checkpoint that the trainers have, too. Its small files are read here, and its weights are hashed. */
  readonly modelDir: string;
  /** Addresses of trainers, at least one. Each trains one adapter at a time. */
  readonly urls: readonly string[];
  readonly logger?: EngineLogger;
  readonly limits?: Partial<TrainerLimits>;
}

export interface PeftTrainers extends TrainingHost {
  /** Asks each trainer what it is. */
  look(): Promise<readonly { readonly url: string; readonly found: Found }[]>;
}

const defaultLimits: TrainerLimits = { quickMs: 10_000, computeMs: 900_000, maxMissedRenewals: 4 };

/**
 * A host of trainings that compute on trainers. `openTraining` rejects with `not_running` while none is free, which is
 * what a host says that can start no process, and with `process_lost` if one was lost while it opened.
 * @throws EngineError `checkpoint_invalid` about the model's folder, or if a trainer answers and is not what it should
 *   be. One that does not answer is waited for.
 */
export async function openPeftTrainers(options: PeftTrainersOptions): Promise<PeftTrainers> {
  const front = await ModelFront.open(options.modelDir);
  const limits = { ...defaultLimits, ...options.limits };
  const { contentHash } = await front.describe();
  const trainers = new Trainers(
    front,
    contentHash,
    options.urls.map((url) => new Trainer(url, limits)),
  );
  for (const { url, found } of await trainers.look()) {
    if (found.kind === 'fits') options.logger?.info({ url, ...found.description }, 'a trainer is ready');
    if (found.kind === 'away') options.logger?.warn({ url, reason: found.reason }, 'a trainer does not answer');
    if (found.kind !== 'unfit') continue;
    await trainers.close();
    throw new EngineError('checkpoint_invalid', `the trainer ${url}: ${found.reason}`);
  }
  return trainers;
}

class Trainers implements PeftTrainers {
  /** A trainer has no process on this machine. */
  readonly trainingPids: readonly number[] = [];
  private readonly closing = new AbortController();
  /** Trainers that this host opens a session on, or has one on. */
  private readonly taken = new Map<Trainer, TrainerSession | null>();

  constructor(
    private readonly front: ModelFront,
    private readonly model: string,
    private readonly trainers: readonly Trainer[],
  ) {}

  onExit(): () => void {
    return () => undefined;
  }

  onStart(): () => void {
    return () => undefined;
  }

  look(): Promise<readonly { readonly url: string; readonly found: Found }[]> {
    const { signal } = this.closing;
    return Promise.all(
      this.trainers.map(async (trainer) => ({
        url: trainer.url,
        found: await trainer.describe(this.model, signal),
      })),
    );
  }

  async openTraining(options: TrainingOptions | ResumeOptions): Promise<TrainingSession> {
    this.requireOpen();
    const start = await this.front.beginTraining(options);
    const protectedTokens = (options.protectedDirections ?? []).map(({ tokens }) => tokens);
    const reasons: string[] = [];
    let isOneLost = false;
    for (const trainer of this.trainers) {
      this.requireOpen();
      if (this.taken.has(trainer)) {
        reasons.push(`${trainer.url}: it is busy`);
        continue;
      }
      this.taken.set(trainer, null);
      try {
        const opening = await trainer.open(start, this.model, protectedTokens, this.closing.signal);
        if (opening.kind === 'opened') {
          const session = this.sessionOn(trainer, start, opening);
          this.taken.set(trainer, session);
          return session;
        }
        reasons.push(`${trainer.url}: ${opening.reason}`);
        isOneLost ||= opening.kind === 'lost';
        this.taken.delete(trainer);
      } catch (error) {
        this.taken.delete(trainer);
        throw error;
      }
    }
    this.requireOpen();
    // One that dies of an opening is told from one that is away, so that the work is not repeated for ever.
    throw new EngineError(isOneLost ? 'process_lost' : 'not_running', `no trainer is free (${reasons.join('; ')})`);
  }

  private sessionOn(
    trainer: Trainer,
    { state, ...start }: TrainingStart,
    { session: opened, description }: Opening & { readonly kind: 'opened' },
  ): TrainerSession {
    const { front } = this;
    return new TrainerSession({
      trainer,
      front,
      start,
      plainBytes: plainBytesOf(state),
      opened,
      description,
      closing: this.closing.signal,
      onClose: () => void this.taken.delete(trainer),
    });
  }

  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all([...this.taken.values()].map(async (session) => session?.close()));
    await this.front.close();
  }

  private requireOpen(): void {
    if (this.closing.signal.aborted) throw new EngineError('cancelled', 'the engine is closed');
  }
}
