import {
  addLosses,
  barChart,
  bestReading,
  noTally,
  pointsLost,
  shareOf,
  type BarSeries,
  canaryKinds,
  type CanaryKind,
  type CanaryLoss,
  type MeasuringSummary,
  type PassageReport,
  type Shares,
  type Tally,
} from '@engraft/evaluation';
import { formatUsd, table } from './output.js';

/** A row for each passage, a row for all of them, and what the columns do not show. */
export function measuringLines(reports: readonly PassageReport[], summary: MeasuringSummary): string[] {
  const head = [
    'passage',
    'kind',
    'verdict',
    'base',
    'reading',
    'learned',
    'unseen',
    'first',
    'earlier',
    'lost',
    'seconds',
    'USD',
  ];
  const readingOf = bestReading(reports);
  return [
    ...table([head, ...reports.map((report) => row(report, readingOf(report))), totals(summary)]),
    '',
    'base, reading: without the passage and with it, before learning (reading: with the better of two prompts); learned:',
    'without it, after; unseen: of these, the phrasings that were never trained; first: what is left of the first passage',
    'of the chain; earlier: of all before this one; lost: canaries.',
    '',
    `exact match and mean F1, as SQuAD counts them: ${scoreLine(summary)}`,
    `wrong values, rather than "I do not know.", of what was accepted: ${wrongLine(summary)}`,
    `canaries lost: ${canaryLine(summary)}`,
    `wrong verdicts: ${summary.wrong_acceptances} accepted below half of reading, ${summary.wrong_rejections} rejected at half of it or more`,
    ...reports.flatMap(rejectionLine),
  ];
}

/** Reading and learning for each passage, and all passages by each measure. */
export function measuringChart(reports: readonly PassageReport[], summary: MeasuringSummary): string {
  const { base, reading, learned } = summary.shares;
  const series = (
    name: string,
    of: (report: PassageReport) => Tally | null,
    shares: Omit<Shares, 'right'> | null,
    right: number | null,
  ): BarSeries => ({
    name,
    values: [
      ...reports.map((report) => shareOf(of(report) ?? noTally)),
      right,
      shares?.exact ?? null,
      shares?.f1 ?? null,
    ],
  });
  return barChart({
    title: 'Questions answered right',
    groups: [...reports.map(({ id }) => id), 'all', 'all: exact match', 'all: F1'],
    series: [
      series('base', (report) => report.base, base, summary.base),
      series('with the passage', bestReading(reports), reading, summary.reading),
      series('learned', (report) => report.learned, learned, summary.learned),
      series('learned, phrasings never trained', ({ unseen }) => unseen, null, summary.unseen),
    ],
  });
}

function row(report: PassageReport, reading: Tally | null): string[] {
  const { id, kind, verdict, base, learned, unseen, retention, canaries, seconds, cost_microusd } = report;
  const losses = canaries === null ? [] : Object.values(canaries);
  return [
    id,
    kind,
    verdict,
    ...[base, reading, learned, unseen].map(count),
    retention === null ? '' : `${retention.after.right} of ${retention.before.right}`,
    retention === null ? '' : `${retention.all_after.right} of ${retention.all_before.right}`,
    losses.length === 0 ? '' : loss(addLosses(losses)),
    seconds.toFixed(1),
    usd(cost_microusd),
  ];
}

/** The gate's own questions and canaries, which have no column. */
function rejectionLine({ id, verdict, validation, gate }: PassageReport): string[] {
  if (verdict !== 'rejected' || validation === null || gate === null) return [];
  const { passed_count, total_count, base_passed_count, retention_passed_count, retention_total_count } = validation;
  const { candidate, parent, total } = gate.canaries;
  const counts = [
    `validation ${passed_count} of ${total_count} (${base_passed_count} before)`,
    `retention ${retention_passed_count} of ${retention_total_count}`,
    `canaries ${candidate} of ${total} (${parent} before)`,
    ...(gate.drift.nats === null ? [] : [`drift ${gate.drift.nats.toFixed(2)} nats a token`]),
  ];
  return [`rejected ${id}: ${gate.reasons.join(', ')}; ${counts.join(', ')}`];
}

function totals(summary: MeasuringSummary): string[] {
  const { base, reading, learned, unseen, retained, all_retained, canaries } = summary;
  const { passages, accepted, rejected, budget_exhausted, mean_seconds, mean_cost_microusd } = summary;
  const exhausted = budget_exhausted === 0 ? '' : `, ${budget_exhausted} exhausted`;
  return [
    `all ${passages}`,
    '',
    accepted + rejected === 0 ? '' : `${accepted} accepted, ${rejected} rejected${exhausted}`,
    ...[base, reading, learned, unseen, retained, all_retained].map(percent),
    loss(addLosses(Object.values(canaries))),
    mean_seconds.toFixed(1),
    usd(Math.round(mean_cost_microusd)),
  ];
}

/** "base 0.0 and 3.1 %, reading …". */
function scoreLine({ shares }: MeasuringSummary): string {
  const scores = (['base', 'reading', 'learned'] as const).flatMap((name) => {
    const share = shares[name];
    return share === null ? [] : [`${name} ${(100 * share.exact).toFixed(1)} and ${(100 * share.f1).toFixed(1)} %`];
  });
  return scores.join(', ');
}

/** "28 % of the passages' questions (20 % repeat the passage), 40 % of questions about other passages (40 %)". */
function wrongLine({ wrong_values, quoted }: MeasuringSummary): string {
  const { own, elsewhere } = wrong_values;
  if (own === null) return 'nothing was accepted';
  const ofPassages = `${percent(own)} of the passages' questions (${percent(quoted.own)} repeat the passage)`;
  if (elsewhere === null) return ofPassages;
  return `${ofPassages}, ${percent(elsewhere)} of questions about other passages (${percent(quoted.elsewhere)})`;
}

const canaryTitles: Readonly<Record<CanaryKind, string>> = {
  reading: 'reading',
  facts: 'facts',
  arithmetic: 'arithmetic',
  small_talk: 'small talk',
  json: 'JSON',
  tools: 'tools',
};

function canaryLine({ canaries }: MeasuringSummary): string {
  return canaryKinds.map((kind) => `${canaryTitles[kind]} ${points(canaries[kind])}`).join(', ');
}

/** "1.9 points (4 of 98 lost, 1 gained)". */
function points(canary: CanaryLoss): string {
  const { held, lost, gained } = canary;
  const fallen = pointsLost(canary);
  return fallen === null ? 'none held' : `${fallen.toFixed(1)} points (${lost} of ${held} lost, ${gained} gained)`;
}

function loss({ held, lost }: CanaryLoss): string {
  return `${lost} of ${held}`;
}

function count(tally: Tally | null): string {
  return tally === null ? '' : `${tally.right}/${tally.total}`;
}

function percent(share: number | null): string {
  return share === null ? '' : `${Math.round(100 * share)} %`;
}

/** Rounded to a cent, which is precise enough beside others. The head of the table says "USD". */
function usd(microusd: number): string {
  return formatUsd(10_000 * Math.round(microusd / 10_000)).replace(' USD', '');
}
