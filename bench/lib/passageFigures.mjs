// The figures of `npm run bench -- passage`: tables and a plot.
import { barChart } from '../../packages/evaluation/dist/index.js';

/** Seconds of the engine over those of the fastest peer: no more is wanted. */
export const targetRatio = 0.7;
/** Memory of learning and serving at once: less is wanted. */
export const targetGb = 2.5;

/**
 * For each passage and for all together: what each contestant took and answered, and the ratio of the first, which is
 * the engine, to the fastest of the others.
 * @typedef {{ name: string, seconds: number, cpuSeconds: number, right: number }} Contestant
 * @param {{ id: string, steps: number, heldOut: { total: number, base: number }, contestants: Contestant[] }[]}
 * passages
 */
export function figuresOf(passages) {
  return { passages: passages.map(withRatio), all: withRatio(together(passages)) };
}

function together(passages) {
  const sum = (of) => passages.reduce((total, passage) => total + of(passage), 0);
  const [{ contestants }] = passages;
  return {
    id: 'all',
    steps: sum(({ steps }) => steps),
    heldOut: { total: sum(({ heldOut }) => heldOut.total), base: sum(({ heldOut }) => heldOut.base) },
    contestants: contestants.map(({ name }, place) => ({
      name,
      seconds: sum((passage) => passage.contestants[place].seconds),
      cpuSeconds: sum((passage) => passage.contestants[place].cpuSeconds),
      right: sum((passage) => passage.contestants[place].right),
    })),
  };
}

function withRatio({ id, steps, heldOut, contestants }) {
  const [ours, ...peers] = contestants;
  const fastest = peers.reduce((best, peer) => (peer.seconds < best.seconds ? peer : best));
  return {
    id,
    steps,
    heldOut,
    contestants: contestants.map(({ name, seconds, cpuSeconds, right }) => ({ name, seconds, cpuSeconds, right })),
    fastestPeer: fastest.name,
    ratio: ours.seconds / fastest.seconds,
    ratioByCpuTime: ours.cpuSeconds / fastest.cpuSeconds,
  };
}

export function print({ machine, model, threads, ways, figures }) {
  const { cpu, cores, loadAverage, note } = machine;
  const load = `load average ${loadAverage.toFixed(1)}${note === undefined ? '' : ` (${note})`}`;
  console.log(`\n${cpu}, ${cores} cores, ${threads} threads, ${load}; ${model.parameters} parameters`);
  for (const { precision, seconds, isMeasured } of ways.filter((way) => !way.isMeasured)) {
    console.log(`PyTorch in ${precision} was only tried: ${seconds.toFixed(1)} s for a step of four rows`);
  }
  const rows = [...figures.passages, figures.all].flatMap(({ id, steps, heldOut, contestants }) =>
    contestants.map(({ name, seconds, cpuSeconds, right }) => ({
      passage: id,
      'trained by': name,
      steps,
      seconds: seconds.toFixed(1),
      'CPU seconds': cpuSeconds.toFixed(1),
      'held-out answers': `${right} of ${heldOut.total} (base ${heldOut.base})`,
    })),
  );
  console.table(rows);
  for (const { id, ratio, ratioByCpuTime, fastestPeer } of [...figures.passages, figures.all]) {
    console.log(`${id}: ${ratio.toFixed(2)} of the time of ${fastestPeer}; ${ratioByCpuTime.toFixed(2)} by CPU time`);
  }
  console.log(`wanted: at most ${targetRatio}`);
}

export function printMemory({ serving_gb, training_gb, sum_gb, together_gb, replies, verdict }) {
  const gb = (value) => `${value.toFixed(2)} GB`;
  console.log(`\npeak of the process that serves: ${gb(serving_gb)}; of the one that trains: ${gb(training_gb)}`);
  console.log(`sum: ${gb(sum_gb)}; at any one time: ${gb(together_gb)} (wanted: less than ${targetGb})`);
  console.log(`meanwhile ${replies} replies of a chat; the passage was ${verdict}`);
}

/** Time as a share of the slowest's, and shares of held-out questions; of all passages, and of each. */
export function plot({ model, figures }) {
  const shown = [figures.all, ...figures.passages];
  const groups = shown.flatMap(({ id }) => [`${id}: time`, `${id}: right`]);
  const right = (count, { total }) => (total === 0 ? null : count / total);
  const series = figures.all.contestants.map(({ name }, place) => ({
    name,
    values: shown.flatMap(({ contestants, heldOut }) => {
      const slowest = Math.max(...contestants.map(({ seconds }) => seconds));
      const { seconds, right: count } = contestants[place];
      return [seconds / slowest, right(count, heldOut)];
    }),
  }));
  const base = { name: 'base', values: shown.flatMap(({ heldOut }) => [null, right(heldOut.base, heldOut)]) };
  return barChart({
    title: `The same training, ${model.parameters} parameters: time (slowest 100 %), held-out questions answered`,
    groups,
    series: [base, ...series],
  });
}
