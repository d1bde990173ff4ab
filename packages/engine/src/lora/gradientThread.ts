/** The thread of a `GradientHelper`: started by it, never by hand. */
import { workerData } from 'node:worker_threads';
import { gradientName } from '../model/loraParameters.js';
import { answerCalls } from '../threadAnswers.js';
import type { HelperInputs, HelperRequest, HelperResult } from './gradientHelper.js';
import { WholeGradientRunner } from './gradientRunner.js';
import { FlatMatrices, tensorsOver } from './parameters.js';
import { fromSent } from './sentFeeds.js';

// The helper gives and asks for nothing else.
const { specs, weights, ...inputs } = workerData as HelperInputs;
const adapter = new FlatMatrices(specs);
const sums = new FlatMatrices(specs);
const fetches = tensorsOver(sums, gradientName);
const runner = new WholeGradientRunner({
  ...inputs,
  weights: fromSent(weights),
  matrices: tensorsOver(adapter, (name) => name),
});

answerCalls<HelperResult>('gradients could not be computed', async (request) => {
  const { run, matrices, gradients } = request as HelperRequest;
  adapter.values.set(matrices);
  const loss = await runner.run({ ...run, feeds: fromSent(run.feeds) }, gradients ? fetches : {}, {});
  return { loss, gradients: gradients ? sums.values : null };
});
