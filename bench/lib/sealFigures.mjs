// The figures of `npm run bench -- seal`, beside those that SEAL's paper publishes.
import {
  addLosses,
  addTallies,
  barChart,
  bestReading,
  noTally,
  pointsLost,
  sharesOf,
  summarise,
} from '../../packages/evaluation/dist/index.js';

/**
 * Single passages, n = 1: Qwen2.5-7B (base) and LoRA; 200 paragraphs of SQuAD's evaluation set with 974 questions,
 * asked without the passage and judged by GPT-4.1. The numbers of the tables are those of the paper's version 1,
 * arXiv:2506.10943v1; table 6 is in appendix C.
 */
export const published = [
  { name: 'base', table: 2, right: 0.327 },
  { name: 'trained on the passage', table: 2, right: 0.335 },
  { name: 'trained on questions and answers', table: 6, right: 0.373 },
  { name: 'trained on implications', table: 2, right: 0.397 },
  { name: 'trained on rewrites', table: 6, right: 0.494 },
  { name: 'SEAL: implications, after RL', table: 2, right: 0.47 },
];

/** Our figures, in the order of the table. */
const shareTitles = {
  base: 'base',
  reading: 'base, with the passage',
  learned: 'learned',
  served: 'learned, if accepted',
};

/**
 * Each as mean, least and most over the seeds. `served`: what a user gets, who keeps base where the gate rejects.
 * @param {{ part: 'alone' | 'chain', seed: number, reports: object[] }[]} runs
 */
export function figuresOf(runs) {
  const alone = runs.filter(({ part }) => part === 'alone');
  const chains = runs.filter(({ part }) => part === 'chain');
  const answers = {
    base: ({ base }) => base,
    reading: bestReading(reportsOf(alone)),
    learned: ({ learned, base }) => learned ?? base,
    served: (report) => (isAccepted(report) ? report.learned : null) ?? report.base,
  };
  const shares = Object.entries(answers).map(([name, of]) => {
    const perSeed = bySeed(alone, (reports) => sharesOf(addTallies(reports.map(of))));
    const over = (measure) => spread(perSeed.map((each) => each?.[measure] ?? null));
    return [name, { right: over('right'), exact: over('exact'), f1: over('f1') }];
  });
  return {
    ...Object.fromEntries(shares),
    questions: addTallies([...new Map(reportsOf(alone).map(({ id, base }) => [id, base])).values()]).total,
    accepted: spread(bySeed(alone, acceptedShare)),
    wrong_values: wrongShares(alone, 'wrong_values'),
    quoted: wrongShares(alone, 'quoted'),
    canary_points_lost: spread(bySeed(alone, canaryPointsLost)),
    // Over the versions, rejected ones too: how much less likely unrelated replies of the parent became, a token.
    drift_nats: spread(reportsOf(alone).map(({ gate }) => gate?.drift.nats ?? null)),
    seconds: spread(bySeed(alone, (reports) => summarise(reports).mean_seconds)),
    chain: chains.length === 0 ? null : chainFigures(chains),
  };
}

/** Shares of the questions of accepted paragraphs, and of questions about others. */
function wrongShares(runs, kind) {
  const of = (name) => spread(bySeed(runs, (reports) => summarise(reports)[kind][name]));
  return { own: of('own'), elsewhere: of('elsewhere') };
}

/** Percentage points, over all kinds of canaries. `null` if none were asked. */
function canaryPointsLost(reports) {
  return pointsLost(addLosses(Object.values(summarise(reports).canaries)));
}

/** Right answers about the first passage of each chain, and about all but the last: when learned, and at its end. */
function chainFigures(chains) {
  const ends = (seed) => chains.flatMap((run) => (run.seed === seed ? lastRetention(run.reports) : []));
  const right = (name) =>
    spread(seedsOf(chains).map((seed) => sharesOf(addTallies(ends(seed).map((end) => end[name])))?.right ?? null));
  const summary = (name) => spread(bySeed(chains, (reports) => summarise(reports)[name]));
  return {
    first_before: right('before'),
    first_after: right('after'),
    earlier_before: right('all_before'),
    earlier_after: right('all_after'),
    first_kept: summary('retained'),
    earlier_kept: summary('all_retained'),
    accepted: spread(bySeed(chains, acceptedShare)),
  };
}

function lastRetention(reports) {
  return reports.findLast(({ retention }) => retention !== null)?.retention ?? [];
}

function reportsOf(runs) {
  return runs.flatMap(({ reports }) => reports);
}

function seedsOf(runs) {
  return [...new Set(runs.map(({ seed }) => seed))];
}

function bySeed(runs, of) {
  return seedsOf(runs).map((seed) => of(reportsOf(runs.filter((run) => run.seed === seed))));
}

function isAccepted({ verdict }) {
  return verdict === 'accepted';
}

function acceptedShare(reports) {
  return reports.filter(isAccepted).length / reports.length;
}

/** `null` of nothing. */
function spread(all) {
  const values = all.filter((value) => value !== null);
  if (values.length === 0) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, least: Math.min(...values), most: Math.max(...values) };
}

export function print({ machine: { cpu, cores, loadAverage }, model, half, paragraphs, seeds, figures }) {
  console.log(`\n${cpu}, ${cores} cores, load average ${loadAverage.toFixed(1)}; ${model.parameters} parameters`);
  console.log(
    `${paragraphs} paragraphs of the titles for ${half}, ${figures.questions} questions, ` +
      `${seeds.length} seeds: mean (least to most)`,
  );
  console.table({
    ...Object.fromEntries(
      published.map(({ name, table, right }) => [
        `SEAL, table ${table}: ${name}`,
        { right: percent({ mean: right }), 'exact match': '–', F1: '–' },
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(shareTitles).map(([key, title]) => {
        const { right, exact, f1 } = figures[key];
        return [title, { right: percent(right), 'exact match': percent(exact), F1: percent(f1) }];
      }),
    ),
  });
  const { accepted, seconds, chain, wrong_values, quoted, canary_points_lost, drift_nats } = figures;
  console.log(`accepted: ${percent(accepted)}; seconds a paragraph: ${seconds.mean.toFixed(1)}`);
  console.log(
    `wrong values rather than "I do not know.", of accepted paragraphs: ${percent(wrong_values.own)}, ` +
      `of questions about others: ${percent(wrong_values.elsewhere)}; ` +
      `of these, sentences of the paragraph: ${percent(quoted.own)}, ${percent(quoted.elsewhere)}`,
  );
  if (canary_points_lost !== null) console.log(`canaries lost less gained: ${points(canary_points_lost)}`);
  if (drift_nats !== null) {
    const [mean, most] = [drift_nats.mean, drift_nats.most].map((nats) => nats.toFixed(3));
    console.log(`unrelated replies became less likely: ${mean} nats a token in the mean, ${most} at most`);
  }
  if (chain === null) return;
  console.log(`one after another: accepted ${percent(chain.accepted)}`);
  console.table({
    'the first of a chain': row(chain.first_before, chain.first_after, chain.first_kept),
    'all but the last': row(chain.earlier_before, chain.earlier_after, chain.earlier_kept),
  });
}

function row(before, after, kept) {
  return { 'right when learned': percent(before), 'at the end': percent(after), kept: percent(kept) };
}

function points({ mean, least, most }) {
  const [middle, low, high] = [mean, least, most].map((value) => value.toFixed(1));
  return low === high ? `${middle} points` : `${middle} points (${low} to ${high})`;
}

function percent(figure) {
  if (figure === null) return '–';
  const { mean, least = mean, most = mean } = figure;
  const [middle, low, high] = [mean, least, most].map((value) => (100 * value).toFixed(1));
  return low === high ? `${middle} %` : `${middle} % (${low} to ${high})`;
}

export function plot({ model, paragraphs, seeds, figures }) {
  const ours = Object.keys(shareTitles);
  const empty = published.map(() => null);
  const series = (name, measure) => ({
    name,
    values: [...empty, ...ours.map((key) => figures[key][measure]?.mean ?? null)],
    ranges: [...empty, ...ours.map((key) => rangeOf(figures[key][measure]))],
  });
  return barChart({
    title:
      "SQuAD's questions without the passage: " +
      `${model.parameters} parameters, ${paragraphs} paragraphs, ${seeds.length} seeds`,
    groups: [...published.map(({ name }) => name), ...Object.values(shareTitles)],
    series: [
      { name: 'published by SEAL, of 7B', values: [...published.map(({ right }) => right), ...ours.map(() => null)] },
      series('ours: right', 'right'),
      series('ours: exact match', 'exact'),
      series('ours: F1', 'f1'),
    ],
  });
}

function rangeOf(figure) {
  return figure === null ? null : [figure.least, figure.most];
}
