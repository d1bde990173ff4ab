/** The thread of a `GradientHelper`: started by it, never by hand. */
import { parentPort } from 'node:worker_threads';
import { EngineError } from '../engine.js';
import { gradientName } from '../model/loraParameters.js';
import { WholeGradientRunner } from './gradientRunner.js';
import {
  fromSent,
  isThreadRequest,
  type SentFeeds,
  type ThreadAnswer,
  type ThreadRequest,
} from './gradientThreadMessages.js';
import { FlatMatrices, tensorsOver } from './parameters.js';

interface Opened {
  readonly runner: WholeGradientRunner;
  readonly matrices: FlatMatrices;
  readonly gradients: FlatMatrices;
}

let opened: Opened | undefined;

parentPort?.on('message', (message: unknown) => {
  if (!isThreadRequest(message)) return;
  if (message.kind === 'open') opened = open(message);
  else void answer(message);
});

function open({ specs, weights, ...inputs }: Extract<ThreadRequest, { kind: 'open' }>): Opened {
  const matrices = new FlatMatrices(specs);
  const feeds = { weights: fromSent(weights), matrices: tensorsOver(matrices, (name) => name) };
  return { runner: new WholeGradientRunner({ ...inputs, ...feeds }), matrices, gradients: new FlatMatrices(specs) };
}

async function answer(request: Extract<ThreadRequest, { kind: 'run' }>): Promise<void> {
  try {
    send(await compute(request));
  } catch (error) {
    const code = error instanceof EngineError ? error.code : 'internal';
    send({ kind: 'failed', code, message: error instanceof Error ? error.message : String(error) });
  }
}

async function compute({ run, matrices, gradients }: Extract<ThreadRequest, { kind: 'run' }>): Promise<ThreadAnswer> {
  if (opened === undefined) throw new EngineError('internal', 'A run was asked for before the model was sent.');
  opened.matrices.values.set(matrices);
  const feeds: SentFeeds = run.feeds;
  const fetches = gradients ? tensorsOver(opened.gradients, gradientName) : {};
  const loss = await opened.runner.run({ ...run, feeds: fromSent(feeds) }, fetches, {});
  return { kind: 'computed', loss, gradients: gradients ? opened.gradients.values : null };
}

function send(message: ThreadAnswer): void {
  parentPort?.postMessage(message);
}
