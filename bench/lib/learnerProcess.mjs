// One of the processes of `learners.mjs`: measures the passages that it is sent, in an engine of its own.
// Arguments: the model's folder and the threads of the engine. Messages in: `{ set, ids, options }`; out: `{ report }` for each passage, then `{ reports }`.
import { startEngineHost } from '../../packages/engine/dist/index.js';
import { measurePassages } from '../../packages/evaluation/dist/index.js';
import { learningMethodOf } from './learningMethod.mjs';
import { readPassages } from './passages.mjs';

const [modelDir, threads] = process.argv.slice(2);
const engine = await startEngineHost({ modelDir, threads: Number(threads) });
const method = await learningMethodOf(engine, modelDir);

process.on('message', async ({ set, ids, options }) => {
  const all = readPassages(set);
  const chosen = ids.map((id) => all.find((passage) => passage.id === id));
  const onReport = (report) => process.send({ report });
  process.send({
    reports: await measurePassages(engine, chosen, { ...options, method, canaryPassages: all, onReport }),
  });
});
process.on('disconnect', () => void engine.close());
