/** The thread of a `ModelFront`, which starts it. Nothing else does. */
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../support/threadAnswers.js';
import type { FrontCall } from './frontMethods.js';
import { openFront, type Front } from './front.js';

// The caller sends the folder once, and calls after that.
const opening = openFront(workerData as string);
// Each call reports a failure to open.
opening.catch(() => undefined);

answerCalls<unknown>('the front of a model failed', async (request) => perform(await opening, request as FrontCall));

function perform(front: Front, call: FrontCall): unknown {
  switch (call.method) {
    case 'describe':
      return front.describe();
    case 'countTokens':
      return front.countTokens(...call.args);
    case 'encode':
      return front.encode(...call.args);
    case 'prepare':
      return front.prepare(...call.args);
    case 'compose':
      return front.compose(...call.args);
    case 'probeSequences':
      return front.probeSequences();
    case 'checkAdapter':
      return front.checkAdapter(...call.args);
    case 'beginTraining':
      return front.beginTraining(...call.args);
    case 'layOutBatch':
      return front.layOutBatch(...call.args);
    case 'saveTraining':
      return front.saveTraining(...call.args);
    case 'snapshotTraining':
      return front.snapshotTraining(...call.args);
  }
}
