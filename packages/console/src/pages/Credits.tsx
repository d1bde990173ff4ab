import type { ConsoleCredits, LedgerEntry } from '@engraft/contract/console';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { getFile } from '../api.js';
import { formatTime, formatUsd } from '../format.js';
import { LongTable } from '../parts/LongTable.js';
import { Dialog, ErrorNote, Loading } from '../parts/parts.js';
import { useOperates, useProject, useSellsCredit } from '../project.js';
import { creditsQuery, liveMs, moreOf, of } from '../queries.js';
import { BuyCredit } from './BuyCredit.js';
import { GrantCredit } from './GrantCredit.js';
import { SpendingChart } from './SpendingChart.js';

export function Credits() {
  const project = useProject();
  const operates = useOperates();
  const sells = useSellsCredit();
  const isBack = 'paid' in useSearch({ strict: false });
  const [dialog, setDialog] = useState<'grant' | 'buy' | null>(null);
  const close = (): void => setDialog(null);
  // Whoever comes back from paying waits for Stripe to tell the service.
  const credits = useInfiniteQuery({ ...creditsQuery(project), ...(isBack ? { refetchInterval: liveMs } : {}) });
  const newest = credits.data?.pages[0];
  const entries = credits.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <>
      <div className="title">
        <h1>Credits</h1>
        <div className="buttons">
          {operates && <button onClick={() => setDialog('grant')}>Grant credit</button>}
          {sells && (
            <button className="primary" onClick={() => setDialog('buy')}>
              Buy credit
            </button>
          )}
        </div>
      </div>
      {isBack && (
        <p className="note" role="status">
          Thank you. The credit stands in the ledger below as soon as Stripe has told the service that it was paid.
        </p>
      )}
      <ErrorNote error={credits.error} />
      {credits.isPending && <Loading what="the credits" />}
      {newest !== undefined && <Figures {...newest} more={sells ? 'Buy more here.' : 'An operator grants more.'} />}
      <SpendingChart />
      <div className="title">
        <h2>Ledger</h2>
        {entries.length > 0 && <DownloadCsv />}
      </div>
      {credits.isSuccess && entries.length === 0 && <p>No money has moved yet.</p>}
      {entries.length > 0 && (
        <LongTable
          label="Ledger entries"
          columns={columns}
          rows={entries}
          keyOf={({ id }) => id}
          cellsOf={(entry) => cellsOf(project, entry)}
          {...moreOf(credits)}
        />
      )}
      <Dialog title="Grant credit" open={dialog === 'grant'} onClose={close}>
        <GrantCredit onDone={close} />
      </Dialog>
      <Dialog title="Buy credit" open={dialog === 'buy'} onClose={close}>
        <BuyCredit onDone={close} />
      </Dialog>
    </>
  );
}

const columns = [{ name: 'When' }, { name: 'Entry' }, { name: 'For' }, { name: 'Amount', isNumber: true }] as const;

function cellsOf(project: string, entry: LedgerEntry): ReactNode[] {
  return [
    formatTime(entry.created_at),
    nameOf(entry),
    <>
      {entry.job_id === null ? (
        (entry.subject_id ?? entry.memo ?? '')
      ) : (
        <Link to="/p/$project/jobs/$job" params={{ project, job: entry.job_id }}>
          {entry.subject_id ?? entry.job_id}
        </Link>
      )}
      {entry.job_id !== null && entry.memo !== null && <span className="hint"> {entry.memo}</span>}
    </>,
    formatUsd(entry.amount_microusd),
  ];
}

function nameOf({ kind, job_kind }: LedgerEntry): string {
  const work = job_kind === 'inference' ? 'a question' : 'learning';
  const names: Readonly<Record<LedgerEntry['kind'], string>> = {
    grant: 'Credit added',
    reserve: `Reserved for ${work}`,
    post: `Charged for ${work}`,
    void: `Released, not needed for ${work}`,
    hosting: 'A day of hosting',
    refund: 'Refunded',
  };
  return names[kind];
}

function DownloadCsv() {
  const project = useProject();
  const download = useMutation({
    mutationFn: () => getFile(`${of(project)}/ledger.csv`),
    onSuccess: (file) => {
      const address = URL.createObjectURL(file);
      const link = document.createElement('a');
      link.href = address;
      link.download = 'ledger.csv';
      link.click();
      URL.revokeObjectURL(address);
    },
  });
  return (
    <div>
      <button disabled={download.isPending} onClick={() => download.mutate()}>
        Download as CSV
      </button>
      <ErrorNote error={download.error} />
    </div>
  );
}

interface FiguresProps extends Pick<ConsoleCredits, 'available_microusd' | 'reserved_microusd' | 'spent_microusd'> {
  readonly more: string;
}

function Figures({ available_microusd, reserved_microusd, spent_microusd, more }: FiguresProps) {
  return (
    <dl className="figures">
      <div>
        <dt>Available</dt>
        <dd>{formatUsd(available_microusd)}</dd>
        <dd className="hint">Pays for new work. {more}</dd>
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
