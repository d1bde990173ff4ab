import { mean, sum } from '@engraft/learning/parts';
import { addTallies, quotedShareOf, shareOf, sharesOf, wrongShareOf, type Shares, type Tally } from './asking.js';
import { addLosses, reportOfKinds, type CanaryLoss, type CanaryReport } from './canaries.js';
import type { PassageReport, Retention } from './passageReport.js';

/** Shares of the accepted passages' own questions, and of questions that nothing learned answers. */
export interface WrongShares {
  readonly own: number | null;
  readonly elsewhere: number | null;
}

/** Shares are over all questions of all passages, from 0 to 1. `null` if nothing was asked. */
export interface MeasuringSummary {
  readonly passages: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly budget_exhausted: number;
  readonly base: number | null;
  readonly reading: number | null;
  readonly learned: number | null;
  readonly trained: number | null;
  readonly unseen: number | null;
  /** Wrong values given instead of "I do not know." after learning the accepted passages. */
  readonly wrong_values: WrongShares;
  /** Those of them that repeat the passage, see `Tally.quoted`. */
  readonly quoted: WrongShares;
  /** The first three again, with SQuAD's own measures. */
  readonly shares: Readonly<Record<'base' | 'reading' | 'learned', Shares | null>>;
  /** The share of the first passage's right answers that is left at the ends of chains. */
  readonly retained: number | null;
  /** The same for all passages of the chains but the last. */
  readonly all_retained: number | null;
  readonly canaries: CanaryReport;
  /** Accepted, but worth less than half of reading the passage. */
  readonly wrong_acceptances: number;
  /** Rejected, but worth at least half of reading the passage. */
  readonly wrong_rejections: number;
  readonly mean_seconds: number;
  readonly mean_cost_microusd: number;
}

export function summarise(reports: readonly PassageReport[]): MeasuringSummary {
  const count = (verdict: PassageReport['verdict']): number =>
    reports.filter((report) => report.verdict === verdict).length;
  const total = (of: (report: PassageReport) => Tally | null): Tally =>
    addTallies(reports.flatMap((report) => of(report) ?? []));
  const readingOf = bestReading(reports);
  const own = total(({ verdict, learned }) => (verdict === 'accepted' ? learned : null));
  const elsewhere = total(({ verdict, elsewhere: asked }) => (verdict === 'accepted' ? asked : null));
  const shares = {
    base: sharesOf(total(({ base }) => base)),
    reading: sharesOf(total(readingOf)),
    // Where nothing was trained, base's answers count.
    learned: sharesOf(total(({ learned, base }) => learned ?? base)),
  };
  return {
    passages: reports.length,
    accepted: count('accepted'),
    rejected: count('rejected'),
    budget_exhausted: count('budget_exhausted'),
    base: shares.base?.right ?? null,
    reading: shares.reading?.right ?? null,
    learned: shares.learned?.right ?? null,
    trained: shareOf(total(({ trained }) => trained)),
    unseen: shareOf(total(({ unseen }) => unseen)),
    wrong_values: { own: wrongShareOf(own), elsewhere: wrongShareOf(elsewhere) },
    quoted: { own: quotedShareOf(own), elsewhere: quotedShareOf(elsewhere) },
    shares,
    retained: keptShare(reports, ({ before, after }) => ({ before, after })),
    all_retained: keptShare(reports, ({ all_before, all_after }) => ({ before: all_before, after: all_after })),
    canaries: reportOfKinds((kind) => lossOf(reports, kind)),
    wrong_acceptances: reports.filter(
      (report) => report.verdict === 'accepted' && isWorthHalf(report, readingOf) === false,
    ).length,
    wrong_rejections: reports.filter(
      (report) => report.verdict === 'rejected' && isWorthHalf(report, readingOf) === true,
    ).length,
    mean_seconds: mean(reports.map(({ seconds }) => seconds)),
    mean_cost_microusd: mean(reports.map(({ cost_microusd }) => cost_microusd)),
  };
}

/** Picks the reading with the prompts that base reads best with, over all passages together. */
export function bestReading(
  reports: readonly Pick<PassageReport, 'reading' | 'reading_instructed'>[],
): (report: Pick<PassageReport, 'reading' | 'reading_instructed'>) => Tally | null {
  const right = (name: 'reading' | 'reading_instructed'): number =>
    sum(reports.map((report) => report[name]?.right ?? 0));
  return right('reading_instructed') > right('reading')
    ? ({ reading_instructed }) => reading_instructed
    : ({ reading }) => reading;
}

/** Whether learning gives at least half of what reading gives. `null` if reading gives nothing, or was not asked. */
export function isWorthHalf(
  report: PassageReport,
  readingOf: (report: PassageReport) => Tally | null = ({ reading }) => reading,
): boolean | null {
  const reading = readingOf(report);
  if (reading === null || reading.right === 0) return null;
  return (report.learned?.right ?? 0) >= reading.right / 2;
}

/** Counts the last passage of each chain. */
function keptShare(
  reports: readonly PassageReport[],
  of: (retention: Retention) => { readonly before: Tally; readonly after: Tally },
): number | null {
  const last = new Map(
    reports.flatMap(({ retention }) => (retention === null ? [] : [[retention.first_id, of(retention)]])),
  );
  const kept = [...last.values()];
  const before = sum(kept.map((tallies) => tallies.before.right));
  const after = sum(kept.map((tallies) => tallies.after.right));
  return before === 0 ? null : after / before;
}

function lossOf(reports: readonly PassageReport[], kind: keyof CanaryReport): CanaryLoss {
  return addLosses(reports.flatMap(({ canaries }) => (canaries === null ? [] : [canaries[kind]])));
}
