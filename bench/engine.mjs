// The engine against its peers: training, generation, adapters, memory and latency, each figure beside its peer's.
//
// npm run bench -- engine [--quick] [--only training,generation,quality,mixed,cache,cold,memory,latency]
//                         [--threads 1,2] [--widths 256,512,896]
// npm run bench -- engine --only training --model DIR [--threads 2]
// npm run bench -- engine --peer vllm --model DIR [--threads 2] [--rounds 5] [--weights f32|q8|q4]
//
// With --model a step is measured with that checkpoint in place of those that the bench makes. With --peer vllm answers
// and reading are, beside a real vLLM for processors; that writes bench/results/engine-vllm.*, and with our weights of
// 8 bits (`--weights q8`) engine-vllm-q8.*.
// Writes bench/results/engine.{json,md,svg}, with --only those parts of them; with --quick, --threads, --widths
// or --model, engine-partial.* instead, which git ignores.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { measureAdapterCache, measureColdAdapter, measureMixedBatches } from './engine/adapters.mjs';
import { measureDecoding } from './engine/decoding.mjs';
import { measureLatency } from './engine/latency.mjs';
import { measureLossShift } from './engine/lossShift.mjs';
import { measureMemory } from './engine/memory.mjs';
import { givenModel, makeModels } from './engine/models.mjs';
import { isMet, markdown, numberText, svg, targetText } from './engine/report.mjs';
import { measureTraining } from './engine/training.mjs';
import { measureBesideVllm } from './engine/vllm.mjs';
import { machine, option, root, withLoadNote, writeResults } from './lib/measure.mjs';

const fullSizes = {
  rounds: 9,
  torchWaiting: ['active', 'passive'],
  outputTokens: 96,
  lossRows: 200,
  adapterCount: 1000,
  coldRounds: 20,
  latency: { rounds: 5, requests: 20, outputTokens: 32 },
};
const quickSizes = {
  rounds: 3,
  // Spinning takes minutes on a busy machine.
  torchWaiting: ['passive'],
  outputTokens: 32,
  lossRows: 40,
  adapterCount: 120,
  coldRounds: 6,
  latency: { rounds: 2, requests: 10, outputTokens: 32 },
};

/** The benches by part; `cores` is the greatest number of threads. */
const allParts = {
  training: {
    title: 'Training',
    measure: ({ size, ...plan }) => measureTraining({ ...plan, ...size }),
  },
  generation: { title: 'Generation', measure: ({ size, ...plan }) => measureDecoding({ ...plan, ...size }) },
  quality: {
    title: 'Weights of 8 and 4 bits',
    measure: ({ cores, size }) => measureLossShift({ rowCount: size.lossRows, threads: cores }),
  },
  mixed: { title: 'Adapters in a batch', measure: ({ size, ...plan }) => measureMixedBatches({ ...plan, ...size }) },
  cache: {
    title: 'Adapters in a cache',
    measure: ({ models: [model], cores, folder, size }) =>
      measureAdapterCache({ model, threads: cores, count: size.adapterCount, outputTokens: 16, folder }),
  },
  cold: {
    title: 'A cold adapter',
    measure: ({ models: [model], cores, folder, size }) =>
      measureColdAdapter({ model, threads: cores, rounds: size.coldRounds, folder }),
  },
  memory: { title: 'Memory', measure: ({ models, cores }) => measureMemory({ models, threads: cores }) },
  latency: {
    title: 'Answers while training runs on the same cores',
    measure: ({ models: [model], cores, size }) => measureLatency({ model, threads: cores, ...size.latency }),
  },
};

export default async function bench(args) {
  if (option(args, 'peer') !== undefined) return benchVllm(args);
  const quick = args.includes('--quick');
  const only = option(args, 'only', Object.keys(allParts).join()).split(',');
  const unknown = only.filter((name) => !(name in allParts));
  if (unknown.length > 0)
    throw new Error(`--only takes ${Object.keys(allParts).join(', ')}; not ${unknown.join(', ')}`);
  const modelDir = option(args, 'model');
  // The other parts need outputs of a given length, which only our own models are sure to write.
  if (modelDir !== undefined && only.join() !== 'training') throw new Error('--model goes with --only training');
  const threadCounts = option(args, 'threads', quick ? '2' : '1,2')
    .split(',')
    .map(Number);
  const widths = option(args, 'widths', quick ? '256,896' : '256,512,896')
    .split(',')
    .map(Number);
  const size = quick ? quickSizes : fullSizes;
  const command = `engine${quick ? ' --quick' : ''}`;
  const results = { machine: withLoadNote(machine()), command, quick, threadCounts, ...size, sections: [] };
  const folder = mkdtempSync(join(tmpdir(), 'engraft-bench-'));
  const isPartial = quick || ['--threads', '--widths', '--model'].some((name) => args.includes(name));
  // After each part, as a later one may fail.
  const keep = () => (isPartial ? write(results, 'engine-partial') : write(withEarlierParts(results), 'engine'));
  try {
    const models = modelDir === undefined ? await makeModels(folder, widths) : [await givenModel(modelDir)];
    for (const name of Object.keys(allParts).filter((part) => only.includes(part))) {
      const { title, measure } = allParts[name];
      const { cpu, date, loadAverage } = machine();
      const started = performance.now();
      const rows = await measure({ models, threadCounts, cores: Math.max(...threadCounts), folder, size });
      results.sections.push({ title, cpu, date, loadAverage, seconds: (performance.now() - started) / 1e3, rows });
      print(results.sections.at(-1));
      keep();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Beside vLLM, on a checkpoint of the user's. */
async function benchVllm(args) {
  const modelDir = option(args, 'model');
  if (option(args, 'peer') !== 'vllm' || modelDir === undefined) throw new Error('--peer takes vllm, with --model DIR');
  const threads = Number(option(args, 'threads', '2'));
  const rounds = Number(option(args, 'rounds', '5'));
  const weights = option(args, 'weights', 'f32');
  const at = withLoadNote(machine());
  const started = performance.now();
  const { rows, ways } = await measureBesideVllm({ modelDir, threads, rounds, weights });
  const { cpu, date, loadAverage } = at;
  const seconds = (performance.now() - started) / 1e3;
  const section = { title: 'Answers and reading beside vLLM', cpu, date, loadAverage, seconds, rows };
  print(section);
  const [settings, suffix] = weights === 'f32' ? ['', ''] : [` --weights ${weights}`, `-${weights}`];
  const command = `engine --peer vllm --model ${basename(resolve(modelDir))}${settings}`;
  write({ machine: at, command, threads, rounds, weights, ways, sections: [section] }, `engine-vllm${suffix}`);
}

/** The parts that were not measured this time stay as they were; each has the date of its own. */
function withEarlierParts(results) {
  const file = join(root, 'bench/results/engine.json');
  if (!existsSync(file)) return results;
  const earlier = JSON.parse(readFileSync(file, 'utf8'));
  const measured = new Map([...earlier.sections, ...results.sections].map((section) => [section.title, section]));
  const sections = Object.values(allParts).flatMap(({ title }) => measured.get(title) ?? []);
  return { ...earlier, ...results, sections };
}

function write(results, name) {
  writeResults(name, results);
  writeFileSync(join(root, `bench/results/${name}.md`), markdown(results).replace('engine.svg', `${name}.svg`));
  writeFileSync(join(root, `bench/results/${name}.svg`), svg(results));
  console.log(`\nwritten to bench/results/${name}.{json,md,svg}`);
}

function print({ title, seconds, rows }) {
  console.log(`\n${title} (${seconds.toFixed(0)} s)`);
  console.table(
    rows.map((row) => ({
      figure: row.figure,
      model: row.model,
      threads: row.threads,
      engine: `${numberText(row.value)} ${row.unit}`,
      peer: `${numberText(row.peerValue)} (${row.peer.slice(0, 34)})`,
      ratio: row.ratio?.toFixed(2) ?? '',
      target: targetText(row.target),
      met: isMet(row) ?? '',
    })),
  );
}
