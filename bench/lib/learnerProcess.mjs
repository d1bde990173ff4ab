// One of the processes of `learners.mjs`: measures the passages that it is sent, in an engine of its own. Arguments:
// the model's folder and the threads of the engine. Messages in: `{ set, ids, options }`, or `passages` in place of the
// name of a set; out: `{ report }` for each passage, then `{ reports }`.
import { startEngineHost } from '../../packages/engine/dist/index.js';
import { measurePassages } from '../../packages/evaluation/dist/index.js';
import { learningMethodOf } from './learningMethod.mjs';
import { readPassages } from './passages.mjs';

const [modelDir, threads] = process.argv.slice(2);
const engine = await startEngineHost({ modelDir, threads: Number(threads) });
const method = await learningMethodOf(engine, modelDir);

process.on('message', async ({ set, passages, ids, options }) => {
  const all = passages ?? readPassages(set);
  const chosen = ids.map((id) => all.find((passage) => passage.id === id));
  const onReport = (report) => process.send({ report });
  try {
    process.send({
      reports: await measurePassages(engine, chosen, { ...options, method, canaryPassages: all, onReport }),
    });
  } catch (error) {
    // Otherwise the bench was stopped, and the engine closed below.
    if (process.connected) throw error;
  }
});
process.on('disconnect', () => void engine.close());
