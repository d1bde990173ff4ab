import type { LedgerEntry } from '@engraft/contract/console';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formatTime, formatUsd } from '../format.js';
import { ErrorNote, Loading } from '../parts/parts.js';
import { useProject } from '../project.js';
import { creditsQuery } from '../queries.js';

const kinds: Readonly<Record<LedgerEntry['kind'], string>> = {
  grant: 'Credit granted',
  reserve: 'Reserved for a job',
  post: 'Charged for a job',
  void: 'Reservation released',
  hosting: 'A day of hosting',
  refund: 'Refunded',
};

export function Credits() {
  const project = useProject();
  const credits = useInfiniteQuery(creditsQuery(project));
  const newest = credits.data?.pages[0];
  const entries = credits.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <>
      <h1>Credits</h1>
      <ErrorNote error={credits.error} />
      {credits.isPending && <Loading what="the credits" />}
      {newest !== undefined && <Figures {...newest} />}
      <h2>Ledger</h2>
      {credits.isSuccess && entries.length === 0 && <p>No money has moved yet.</p>}
      {entries.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label="Ledger entries">
          <table>
            <thead>
              <tr>
                <th>When</th>
                <th>Entry</th>
                <th>For</th>
                <th className="number">Amount</th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry) => (
                <tr key={entry.id}>
                  <td>{formatTime(entry.created_at)}</td>
                  <td>{kinds[entry.kind]}</td>
                  <td>
                    {entry.job_id === null ? (
                      (entry.subject_id ?? entry.memo ?? '')
                    ) : (
                      <Link to="/p/$project/jobs/$job" params={{ project, job: entry.job_id }}>
                        {entry.subject_id ?? entry.job_id}
                      </Link>
                    )}
                  </td>
                  <td className="number">{formatUsd(entry.amount_microusd)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {credits.hasNextPage && (
        <button disabled={credits.isFetchingNextPage} onClick={() => void credits.fetchNextPage()}>
          Show older entries
        </button>
      )}
    </>
  );
}

type FiguresProps = Readonly<Record<'available_microusd' | 'reserved_microusd' | 'spent_microusd', number>>;

function Figures({ available_microusd, reserved_microusd, spent_microusd }: FiguresProps) {
  return (
    <dl className="figures">
      <div>
        <dt>Available</dt>
        <dd>{formatUsd(available_microusd)}</dd>
        <dd className="hint">Pays for new work. An operator grants more: engraft credit grant.</dd>
      </div>
      <div>
        <dt>Reserved</dt>
        <dd>{formatUsd(reserved_microusd)}</dd>
        <dd className="hint">Held for jobs that have not ended. What they do not need comes back.</dd>
      </div>
      <div>
        <dt>Spent</dt>
        <dd>{formatUsd(spent_microusd)}</dd>
        <dd className="hint">Charged for jobs and for hosting, since the beginning.</dd>
      </div>
    </dl>
  );
}
