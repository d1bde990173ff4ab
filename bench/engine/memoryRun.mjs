// Runs one kind of work alone in this process and prints the greatest size that the process has had, in bytes.
import { EmbeddedEngine } from '../../packages/engine/dist/index.js';
import { GraphBuilder } from '../../packages/engine/dist/onnx/graphBuilder.js';
import { Session } from '../../packages/engine/dist/onnx/session.js';
import { Tensor } from '../../packages/engine/dist/onnx/tensor.js';
import { readFileSync } from 'node:fs';
import { generateTogether } from './requests.mjs';

const { work, modelDir, threads, cacheFolder } = JSON.parse(process.argv[2]);
await runSomething();
const [firstPeak, firstCode] = [peak(), codeBytes()];
const engine = await EmbeddedEngine.open({ modelDir, threads, weightFormat: work.weightFormat, cacheFolder });
if (work.kind === 'generation') {
  for (let round = 0; round < 2; round += 1) await generateTogether(engine, work);
} else {
  const { batch: size, length, rank } = work;
  const training = await engine.openTraining({ parent: null, rank, alpha: 2 * rank, seed: 1 });
  const tokens = Array.from({ length }, (_, index) => index + 16);
  const batch = Array.from({ length: size }, () => ({ sequence: { tokens, targetStart: 1 }, weight: 1 }));
  for (let step = 0; step < 4; step += 1) await training.step(batch, 1e-4);
}
// Since then Node and ONNX Runtime have read more of their own programs, which counts as theirs.
const baselineBytes = firstPeak + codeBytes() - firstCode;
process.stdout.write(JSON.stringify({ peakBytes: peak(), baselineBytes }));
await engine.close();

/** Puts Node's and ONNX Runtime's own size into the baseline. */
async function runSomething() {
  const graph = new GraphBuilder();
  graph.input('x', 'float32', [2, 2]);
  graph.output('y', graph.node('MatMul', ['x', 'x']), 'float32', [2, 2]);
  const session = await Session.create(graph.encode(), { threads });
  const [x, y] = [new Float32Array(4), new Float32Array(4)].map((data) => new Tensor(data, [2, 2]));
  await session.run([{ x }], [{ y }]);
  session.release();
}

/** Linux's `maxRSS` counts what the parent had when it started this process; `VmHWM` does not. */
function peak() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
}

/** The bytes of the programs' own files that are in memory, Node's and its libraries'. */
function codeBytes() {
  if (process.platform !== 'linux') return 0;
  const mappings = readFileSync('/proc/self/smaps', 'utf8').split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/);
  const programs = mappings.filter((mapping) => /^.* \/\S+(\.so[.\d]*|\.node|\/node)$/.test(mapping.split('\n')[0]));
  const kilobytes = (mapping, field) => Number(new RegExp(`^${field}: +(\\d+) kB$`, 'm').exec(mapping)[1]);
  // A changed page of a file is no longer the file's.
  const clean = programs.map((mapping) => kilobytes(mapping, 'Rss') - kilobytes(mapping, 'Private_Dirty'));
  return 1024 * clean.reduce((sum, size) => sum + size, 0);
}
