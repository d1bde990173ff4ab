// What learning is worth on the fifty passages of bench/learning/passages.jsonl, with several seeds.
//
// npm run bench -- learning [--model DIR] [--passages 50] [--seeds 3] [--chain 8] [--parts alone,gold,chain] [--long yes|no] [--usd 20] [--threads 2] [--resume yes|no]
//
// For each seed: every passage learned by itself; the trainer by itself, on the file's right pairs ("gold": one phrasing
// of each question trained, the other asked); and a chain of passages, each on top of those before it. Then one passage
// of about 1,000 characters and a handbook of 16,000, each in a fresh engine, for time and memory. All of it takes hours;
// `--passages 2 --seeds 1 --chain 2` a few minutes, without the handbook unless `--long yes` asks for it.
// Writes bench/results/learning.json after each seed, and .svg at the end; of another model, fewer passages or not all parts
// learning-partial.*, which git ignores. `--resume yes` takes over the seeds that the file has already, if it was written for the same passages, model, cap and code;
// so hours may be spread over days.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { startEngineHost } from '../packages/engine/dist/index.js';
import {
  barChart,
  loadReplay,
  measurePassages,
  parsePassageSet,
  pointsLost,
  replayOf,
  spreadSample,
  summarise,
} from '../packages/learning/dist/index.js';
import { currentPriceCard } from '../packages/contract/dist/index.js';
import { machine, option, root, writeResults } from './lib/measure.mjs';
import { earlierRuns, fingerprint } from './lib/resume.mjs';

const REPORTED_SECONDS_CHARS = 1000;
/** Of a seed, in their order. */
const PARTS = ['alone', 'gold', 'chain'];

export default async function bench(args) {
  const modelDir = resolve(option(args, 'model', join(root, 'models/base')));
  const passageCount = Number(option(args, 'passages', '50'));
  const seeds = Array.from({ length: Number(option(args, 'seeds', '3')) }, (_, index) => index + 1);
  const chainLength = Number(option(args, 'chain', '8'));
  const threads = Number(option(args, 'threads', '2'));
  const parts = option(args, 'parts', PARTS.join()).split(',');
  const unknown = parts.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Error(`--parts: ${unknown} is none of ${PARTS.join(', ')}`);
  const long = option(args, 'long', passageCount < 10 ? 'no' : 'yes') === 'yes';
  const usd = Number(option(args, 'usd', '20'));
  const budget = budgetOf(usd);

  const all = read('passages');
  const passages = spreadSample(all, passageCount);
  const chain = spreadSample(all, chainLength);
  const engine = await startEngineHost({ modelDir, threads });
  const context = { modelDir, threads, budget, replay: await replayOf(engine, await loadReplay(modelDir)) };
  const model = { folder: relative(root, modelDir), ...(await engine.describe()) };
  const chainIds = chain.map(({ id }) => id);
  const hasAllParts = PARTS.every((part) => parts.includes(part));
  const plan = {
    model: model.contentHash,
    passages: passageCount,
    chain: chainIds,
    usd,
    ...(hasAllParts ? {} : { parts }),
  };
  const measured = fingerprint(
    plan,
    [join(root, 'packages/learning/src'), join(root, 'packages/engine/src')],
    [join(root, 'bench/learning/passages.jsonl'), join(modelDir, 'replay.jsonl')],
  );
  const isWhole = modelDir === join(root, 'models/base') && passages.length === all.length && hasAllParts;
  const name = isWhole ? 'learning' : 'learning-partial';
  const earlier = join(root, `bench/results/${name}.json`);
  const runs = option(args, 'resume', 'no') === 'yes' ? earlierRuns(earlier, measured) : [];
  const known = runs.map(({ seed }) => seed);
  if (known.length > 0) console.log(`taken over: seed ${known.join(', ')}`);
  const newSeeds = seeds.filter((seed) => !known.includes(seed));
  const lengths = { alone: passages.length, gold: passages.length, chain: chain.length };
  const learnings = parts.reduce((sum, part) => sum + lengths[part], 0);
  const clock = startClock(newSeeds.length * learnings + 1 + (long ? 1 : 0));
  const timings = [];
  const resultsNow = () => ({
    machine: machine(),
    measured,
    model,
    passages: passages.length,
    seeds: runs.map(({ seed }) => seed),
    chain: chainIds,
    figures: figuresOf(runs),
    timings,
    runs,
  });
  for (const seed of newSeeds) {
    const measure = async (kind, chosen, options) => {
      if (!parts.includes(kind)) return [];
      return measurePassages(engine, chosen, {
        ...context,
        seed,
        gold: false,
        chainLength: 1,
        askBase: false,
        canaryPassages: all,
        onReport: (report) => clock.tick(`${kind}, seed ${seed}: ${describe(report)}`),
        ...options,
      });
    };
    // Base does not depend on the seed, so it is asked once.
    const [first] = runs;
    const alone = await measure('alone', passages, { askBase: first === undefined });
    runs.push({
      seed,
      machine: machine(),
      alone: first === undefined ? alone : alone.map((report, index) => withBase(report, first.alone[index])),
      gold: await measure('gold', passages, { gold: true }),
      chain: await measure('chain', chain, { chainLength: chain.length }),
    });
    writeResults(name, resultsNow());
  }
  await engine.close();

  const short = [...all].sort((a, b) => distance(a) - distance(b)).slice(0, 1);
  for (const [entry] of [short, ...(long ? [read('handbooks')] : [])]) {
    timings.push(await time(entry, context));
    clock.tick(`timed: ${JSON.stringify(timings.at(-1))}`);
  }
  const results = resultsNow();
  print(results);
  writeResults(name, results);
  writeFileSync(join(root, `bench/results/${name}.svg`), plot(results));
}

function read(name) {
  const file = join(root, `bench/learning/${name}.jsonl`);
  const set = parsePassageSet(readFileSync(file, 'utf8'));
  if (set.kind === 'read') return set.passages;
  throw new Error(`${file}, line ${set.line}, ${set.field}: ${set.message}`);
}

function budgetOf(usd) {
  const { input_nanousd_per_token, output_nanousd_per_token } = currentPriceCard;
  const { cached_input_nanousd_per_token, training_nanousd_per_token } = currentPriceCard;
  return {
    max_compute_microusd: Math.round(usd * 1e6),
    input_nanousd_per_token,
    output_nanousd_per_token,
    cached_input_nanousd_per_token,
    training_nanousd_per_token,
  };
}

function withBase(report, { base, reading, read_in_chunks }) {
  return { ...report, base, reading, read_in_chunks };
}

function distance({ passage }) {
  return Math.abs(passage.length - REPORTED_SECONDS_CHARS);
}

/** Learns one passage in an engine of its own; what the engine used is known on Linux only. */
async function time(entry, { modelDir, threads, budget, replay }) {
  const cpuBefore = childrenCpuSeconds();
  const engine = await startEngineHost({ modelDir, threads });
  let peakKib = 0;
  const watch = setInterval(() => (peakKib = Math.max(peakKib, childrenKib(process.pid))), 100);
  try {
    const options = { budget, replay, seed: 1, gold: false, chainLength: 1, askBase: true };
    const [report] = await measurePassages(engine, [entry], options);
    const cpuAfter = childrenCpuSeconds();
    const { id, chars, verdict, seconds, phase_seconds, cost_microusd, reading, learned, fact_count } = report;
    const timing = { id, chars, verdict, seconds, phase_seconds, cost_microusd, fact_count, reading, learned };
    return {
      ...timing,
      engine_cpu_seconds: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore,
      peak_mib: peakKib === 0 ? null : Math.round(peakKib / 1024),
    };
  } finally {
    clearInterval(watch);
    await engine.close();
  }
}

/** The resident sets of all processes below one, which the engine's and the trainer's are, in KiB; 0 where /proc is missing. */
function childrenKib(pid) {
  try {
    return childrenOf(pid).reduce((sum, child) => {
      const own = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child}/status`, 'utf8'))?.[1];
      return sum + Number(own ?? 0) + childrenKib(child);
    }, 0);
  } catch {
    return 0;
  }
}

function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}

/** User and system time of this process's children, those included that have ended; on a busy machine it says more than the clock. */
function childrenCpuSeconds() {
  try {
    const own = ticksOf(process.pid);
    const alive = childrenOf(process.pid).map((child) => ticksOf(child));
    return alive.reduce((sum, { used, ofEnded }) => sum + used + ofEnded, own.ofEnded) / 100;
  } catch {
    return null;
  }
}

/** Of a process and of its children that have ended, in hundredths of a second. */
function ticksOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ').map(Number);
  return { used: fields[11] + fields[12], ofEnded: fields[13] + fields[14] };
}

/** Each figure as mean, least and most over the seeds; `null` where it was never measured. */
function figuresOf(runs) {
  const over = (of) => {
    const values = runs.map(of).filter((value) => value !== null);
    if (values.length === 0) return null;
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return { mean, least: Math.min(...values), most: Math.max(...values) };
  };
  const ofPart = (part) => (of) => over((run) => (run[part].length === 0 ? null : of(summarise(run[part]))));
  const [alone, gold, chain] = PARTS.map(ofPart);
  const lost = (kind) => (summary) => {
    const points = pointsLost(summary.canaries[kind]);
    return points === null ? null : points / 100;
  };
  const forgotten = (kind) => (summary) => {
    const { held, lost: count } = summary.canaries[kind];
    return held === 0 ? null : count / held;
  };
  return {
    base: alone(({ base }) => base),
    reading: alone(({ reading }) => reading),
    learned: alone(({ learned }) => learned),
    learned_unseen: alone(({ unseen }) => unseen),
    gold_trained: gold(({ trained }) => trained),
    gold_unseen: gold(({ unseen }) => unseen),
    first_of_chain_kept: chain(({ retained }) => retained),
    all_of_chain_kept: chain(({ all_retained }) => all_retained),
    chain_accepted: chain(({ accepted }) => accepted),
    accepted: alone(({ accepted, passages }) => accepted / passages),
    wrong_acceptances: alone(({ wrong_acceptances }) => wrong_acceptances),
    wrong_rejections: alone(({ wrong_rejections }) => wrong_rejections),
    reading_lost: alone(lost('reading')),
    small_talk_lost: alone(lost('small_talk')),
    json_lost: alone(lost('json')),
    tools_lost: alone(lost('tools')),
    reading_forgotten: alone(forgotten('reading')),
    json_forgotten: alone(forgotten('json')),
    tools_forgotten: alone(forgotten('tools')),
    seconds: alone(({ mean_seconds }) => mean_seconds),
    usd: alone(({ mean_cost_microusd }) => mean_cost_microusd / 1e6),
  };
}

/** Shares of questions, in the order in which one reads them. */
const SHARES = {
  base: 'base',
  reading: 'base, with the passage',
  learned: 'learned',
  learned_unseen: 'learned, never trained',
  gold_trained: 'gold, trained',
  gold_unseen: 'gold, never trained',
  first_of_chain_kept: 'first of a chain, kept',
  all_of_chain_kept: 'all of a chain, kept',
  accepted: 'accepted',
  reading_lost: 'lost less gained: reading',
  small_talk_lost: 'lost less gained: small talk',
  json_lost: 'lost less gained: JSON',
  tools_lost: 'lost less gained: tools',
  reading_forgotten: 'of what base could read, lost',
  json_forgotten: 'of its JSON, lost',
  tools_forgotten: 'of its calls, lost',
};

const COUNTS = {
  chain_accepted: 'accepted in the chain',
  wrong_acceptances: 'accepted, below half of reading',
  wrong_rejections: 'rejected, at half of reading or more',
  seconds: 'seconds a passage',
  usd: 'USD a passage',
};

function print({ machine: { cpu, cores, loadAverage }, model, passages, seeds, figures, timings }) {
  console.log(`\n${cpu}, ${cores} cores, load average ${loadAverage.toFixed(1)}; ${model.parameters} parameters`);
  console.log(`${passages} passages, ${seeds.length} seeds: mean, least and most over the seeds`);
  const row = (figure, show) =>
    figure === null ? { mean: '–' } : { mean: show(figure.mean), least: show(figure.least), most: show(figure.most) };
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const plain = (value) => value.toFixed(2);
  console.table({
    ...Object.fromEntries(Object.entries(SHARES).map(([key, title]) => [title, row(figures[key], percent)])),
    ...Object.fromEntries(Object.entries(COUNTS).map(([key, title]) => [title, row(figures[key], plain)])),
  });
  console.table(
    timings.map(({ id, chars, verdict, seconds, cost_microusd, fact_count, engine_cpu_seconds, peak_mib }) => ({
      passage: id,
      characters: chars,
      verdict,
      facts: fact_count,
      seconds: seconds.toFixed(1),
      'engine CPU s': engine_cpu_seconds?.toFixed(1) ?? '–',
      USD: (cost_microusd / 1e6).toFixed(2),
      'peak MiB of all processes': peak_mib ?? '–',
    })),
  );
}

function plot({ figures, passages, seeds }) {
  const shown = Object.entries(SHARES).filter(([key]) => figures[key] !== null);
  const values = shown.map(([key]) => figures[key].mean);
  const ranges = shown.map(([key]) => [figures[key].least, figures[key].most]);
  return barChart({
    title: `Learning: ${passages} passages, ${seeds.length} seeds`,
    groups: shown.map(([, title]) => title),
    series: [{ name: 'mean; the line goes from the least to the most of the seeds', values, ranges }],
  });
}

function describe({ id, verdict, reading, learned, seconds }) {
  const read = reading === null ? '' : `reading ${reading.right}, `;
  const after = learned === null ? 'nothing learned' : `learned ${learned.right} of ${learned.total}`;
  return `${id} ${verdict}, ${read}${after}, ${seconds.toFixed(1)} s`;
}

/** A line a passage, with the time left if the rest goes as fast. */
function startClock(total) {
  const startedAt = performance.now();
  let done = 0;
  return {
    tick: (line) => {
      done += 1;
      const left_min = ((performance.now() - startedAt) / 60_000 / done) * (total - done);
      console.log(`[${done}/${total}, ${left_min.toFixed(1)} min left] ${line}`);
    },
  };
}
