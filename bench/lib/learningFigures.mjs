// The figures of `npm run bench -- learning` out of its runs, as tables and as a plot.
import { barChart, pointsLost, summarise } from '../../packages/evaluation/dist/index.js';

/** Each figure as mean, least and most over the seeds; `null` where it was never measured. */
export function figuresOf(runs) {
  const over = (of) => {
    const values = runs.map(of).filter((value) => value !== null);
    if (values.length === 0) return null;
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return { mean, least: Math.min(...values), most: Math.max(...values) };
  };
  const ofPart = (part) => (of) => over((run) => (run[part].length === 0 ? null : of(summarise(run[part]))));
  const [alone, gold, chain] = ['alone', 'gold', 'chain'].map(ofPart);
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
    wrong_own: alone(({ wrong_values }) => wrong_values.own),
    wrong_elsewhere: alone(({ wrong_values }) => wrong_values.elsewhere),
    reading_lost: alone(lost('reading')),
    facts_lost: alone(lost('facts')),
    arithmetic_lost: alone(lost('arithmetic')),
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

/** Shares of questions, in the order of the table. */
const shareTitles = {
  base: 'base',
  reading: 'base, with the passage',
  learned: 'learned',
  learned_unseen: 'learned, never trained',
  gold_trained: 'gold, trained',
  gold_unseen: 'gold, never trained',
  first_of_chain_kept: 'first of a chain, kept',
  all_of_chain_kept: 'all of a chain, kept',
  accepted: 'accepted',
  wrong_own: 'answered wrongly about what was accepted',
  wrong_elsewhere: 'answered wrongly about other passages',
  reading_lost: 'lost less gained: reading',
  facts_lost: 'lost less gained: facts',
  arithmetic_lost: 'lost less gained: arithmetic',
  small_talk_lost: 'lost less gained: small talk',
  json_lost: 'lost less gained: JSON',
  tools_lost: 'lost less gained: tools',
  reading_forgotten: 'of what base could read, lost',
  json_forgotten: 'of its JSON, lost',
  tools_forgotten: 'of its calls, lost',
};

const countTitles = {
  chain_accepted: 'accepted in the chain',
  wrong_acceptances: 'accepted, below half of reading',
  wrong_rejections: 'rejected, at half of reading or more',
  seconds: 'seconds a passage',
  usd: 'USD a passage',
};

export function print({ machine: { cpu, cores, loadAverage }, model, passages, seeds, figures, timings }) {
  console.log(`\n${cpu}, ${cores} cores, load average ${loadAverage.toFixed(1)}; ${model.parameters} parameters`);
  console.log(`${passages} passages, ${seeds.length} seeds: mean, least and most over the seeds`);
  const row = (figure, show) =>
    figure === null ? { mean: '–' } : { mean: show(figure.mean), least: show(figure.least), most: show(figure.most) };
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const plain = (value) => value.toFixed(2);
  console.table({
    ...Object.fromEntries(Object.entries(shareTitles).map(([key, title]) => [title, row(figures[key], percent)])),
    ...Object.fromEntries(Object.entries(countTitles).map(([key, title]) => [title, row(figures[key], plain)])),
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

export function plot({ figures, passages, seeds }) {
  const shown = Object.entries(shareTitles).filter(([key]) => figures[key] !== null);
  const values = shown.map(([key]) => figures[key].mean);
  const ranges = shown.map(([key]) => [figures[key].least, figures[key].most]);
  return barChart({
    title: `Learning: ${passages} passages, ${seeds.length} seeds`,
    groups: shown.map(([, title]) => title),
    series: [{ name: 'mean; the line goes from the least to the most of the seeds', values, ranges }],
  });
}
