/** The thread of a `GradientHelper`, which starts it. Nothing else does. */
import { workerData } from 'node:worker_threads';
import { factorConstants } from '../model/inputs.js';
import { SharedConstants } from '../onnx/sharedConstants.js';
import { answerCalls } from '../support/threadAnswers.js';
import type { HelperInputs, HelperRequest } from './gradientHelper.js';
import { WholeGradientRunner } from './gradientRunner.js';
import { FlatMatrices, tensorsOver } from './parameters.js';
import { GradientAccumulator } from './gradientAccumulator.js';
import { fromTransferred } from './transferredFeeds.js';

// The helper sends these inputs once, and requests after that.
const { specs, weights: sent, constants, shared, ...inputs } = workerData as HelperInputs;
const weights = fromTransferred(sent);
const adapter = new FlatMatrices(specs);
const sum = new GradientAccumulator(new FlatMatrices(specs));
const runner = new WholeGradientRunner({
  ...inputs,
  weights,
  constants: constants === undefined ? undefined : SharedConstants.ofThread(constants, factorConstants(weights)),
  matrices: tensorsOver(adapter, (name) => name),
});

async function compute({ run, options }: HelperRequest): Promise<number> {
  const { gradients, index, count } = options;
  adapter.values.set(shared.matrices);
  if (index === 0) sum.begin(gradients);
  if (sum.runs !== index) throw new Error(`run ${index} does not follow ${sum.runs} runs`);
  await sum.compute(runner, { ...run, feeds: fromTransferred(run.feeds) }, {});
  if (gradients && sum.runs === count) shared.gradients.set(sum.gradients.values);
  return sum.loss;
}

/** Settles with the last requested run. A run may be requested while another is computed. */
let last: Promise<unknown> = Promise.resolve();

answerCalls<number>(
  'gradients could not be computed',
  (request) => {
    const answer = last.then(() => compute(request as HelperRequest));
    last = answer.catch(() => undefined);
    return answer;
  },
  () => [],
  () => last.then(() => runner.close()),
);
