import type { ConsoleAuditEvent } from '@engraft/contract/console';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { formatTime } from '../format.js';
import { LongTable } from '../parts/LongTable.js';
import { ErrorNote, Field, Loading } from '../parts/parts.js';
import { useOperates, useProject } from '../project.js';
import { auditQuery, moreOf } from '../queries.js';

/** An action without a sentence here is shown by its name. */
const actions: Readonly<Record<string, string>> = {
  'project.create': 'made the project',
  'project.set': 'changed the settings',
  'key.create': 'made an API key',
  'key.revoke': 'revoked an API key',
  'credit.grant': 'granted credit',
  'credit.refund': 'gave back a charge',
  'credit.purchase': 'bought credit',
  'job.cancel': 'cancelled a job',
  'job.resolve': 'settled a job',
  'job.learn': 'sent a passage',
  'job.ask': 'asked a question',
  'version.activate': 'activated a version',
  'version.expire': 'ended a version',
  'subject.erase': 'erased a subject',
  'subject.import': 'imported a subject',
  'tenant.erase': 'erased a tenant',
  'console.link': 'made a link for an account',
  'member.setup': 'set up an account',
  'member.join': 'joined by a link',
  'member.role': 'changed a role',
  'member.remove': 'removed a member',
  'member.uninvite': 'withdrew an invitation',
  'session.start': 'signed in',
  'session.end': 'signed out',
  'session.endall': 'signed out everywhere',
};

/** Who changed what, when and why. Nobody can change or remove an event. */
export function AuditLog() {
  const project = useProject();
  const operates = useOperates();
  const [isEverywhere, setEverywhere] = useState(false);
  const log = useInfiniteQuery(auditQuery(isEverywhere ? null : project));
  const events = log.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <>
      <h1>Audit log</h1>
      <p className="hint">Every change by a member or an operator, kept for ever. Nobody can change an event.</p>
      {operates && (
        <div className="filters">
          <Field label="Events of">
            {(ids) => (
              <select
                {...ids}
                value={isEverywhere ? 'all' : 'project'}
                onChange={(event) => setEverywhere(event.target.value === 'all')}
              >
                <option value="project">this project</option>
                <option value="all">the whole service</option>
              </select>
            )}
          </Field>
        </div>
      )}
      <ErrorNote error={log.error} />
      {log.isPending && <Loading what="the audit log" />}
      {log.isSuccess && events.length === 0 && <p>Nothing was changed yet.</p>}
      {events.length > 0 && (
        <LongTable
          label="Events"
          columns={columns}
          rows={events}
          keyOf={({ id }) => id}
          cellsOf={cellsOf}
          {...moreOf(log)}
        />
      )}
    </>
  );
}

const columns = [
  { name: 'When' },
  { name: 'Who' },
  { name: 'What' },
  { name: 'Project' },
  { name: 'Details' },
] as const;

function cellsOf(event: ConsoleAuditEvent): ReactNode[] {
  return [
    formatTime(event.occurred_at),
    event.actor,
    actions[event.action] ?? event.action,
    event.project ?? '',
    <>
      <code>{event.target}</code> <span className="hint">{describe(event)}</span>
    </>,
  ];
}

function describe({ reason, details }: ConsoleAuditEvent): string {
  const fields = typeof details === 'object' && details !== null ? Object.entries(details) : [];
  const told = fields.map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [...told, ...(reason === null ? [] : [`because: ${reason}`])].join(', ');
}
