import type { ConsoleJobItem, ConsoleJobQuery } from '@engraft/contract/console';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { formatUsd } from '../format.js';
import { Age } from '../parts/Age.js';
import { LongTable } from '../parts/LongTable.js';
import { ErrorNote, Field, Loading, Status } from '../parts/parts.js';
import { useProject } from '../project.js';
import { hasEnded, jobsQuery, moreOf } from '../queries.js';

type Filters = Omit<ConsoleJobQuery, 'cursor'>;

const kinds = { internalization: 'learning', inference: 'questions' } as const;
const statuses = ['queued', 'running', 'succeeded', 'ready', 'rejected', 'failed', 'reconciliation_required'] as const;
const identifier = /^[a-zA-Z0-9][a-zA-Z0-9_.:-]{0,127}$/;

/** The jobs that the project's keys and members have sent. The list is kept up to date. */
export function Jobs() {
  const project = useProject();
  const [filters, setFilters] = useState<Filters>({});
  const jobs = useInfiniteQuery({ ...jobsQuery(project, filters), placeholderData: keepPreviousData });
  const rows = jobs.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <h1>Jobs</h1>
      <JobFilters filters={filters} setFilters={setFilters} />
      <ErrorNote error={jobs.error} />
      {jobs.isPending && <Loading what="the jobs" />}
      {jobs.isSuccess && rows.length === 0 && <NoJobs filtered={Object.keys(filters).length > 0} />}
      {rows.length > 0 && (
        <LongTable
          label="Jobs"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          cellsOf={(job) => cellsOf(project, job)}
          {...moreOf(jobs)}
        />
      )}
    </>
  );
}

const columns = [
  { name: 'Job' },
  { name: 'Subject' },
  { name: 'Status' },
  { name: 'Phase' },
  { name: 'Begun' },
  { name: 'Cost', isNumber: true },
] as const;

function cellsOf(project: string, job: ConsoleJobItem): ReactNode[] {
  return [
    <Link to="/p/$project/jobs/$job" params={{ project, job: job.id }}>
      {job.kind === 'inference' ? 'Question' : 'Learning'} {job.id.slice(4, 12)}
    </Link>,
    <>
      {job.subject_id}
      {job.tenant_id !== null && <span className="hint"> of {job.tenant_id}</span>}
    </>,
    <Status name={job.status} />,
    hasEnded(job.status) ? '' : job.phase,
    <Age of={job.created_at} />,
    job.settled ? formatUsd(job.charged_microusd) : `up to ${formatUsd(job.reserved_microusd)}`,
  ];
}

function JobFilters(props: { readonly filters: Filters; readonly setFilters: (filters: Filters) => void }) {
  const { kind, status, ...others } = props.filters;
  const [subject, setSubject] = useState('');
  const chooseSubject = (text: string): void => {
    setSubject(text);
    const rest = { ...(kind === undefined ? {} : { kind }), ...(status === undefined ? {} : { status }) };
    if (text === '') props.setFilters(rest);
    else if (identifier.test(text)) props.setFilters({ ...rest, subject: text });
  };
  return (
    <div className="filters">
      <Field label="Kind">
        {(ids) => (
          <select
            {...ids}
            value={kind ?? ''}
            onChange={({ target: { value } }) =>
              props.setFilters({
                ...others,
                ...(status === undefined ? {} : { status }),
                ...(value === 'inference' || value === 'internalization' ? { kind: value } : {}),
              })
            }
          >
            <option value="">all</option>
            {Object.entries(kinds).map(([each, name]) => (
              <option key={each} value={each}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Status">
        {(ids) => (
          <select
            {...ids}
            value={status ?? ''}
            onChange={({ target: { value } }) => {
              const chosen = statuses.find((each) => each === value);
              props.setFilters({
                ...others,
                ...(kind === undefined ? {} : { kind }),
                ...(chosen === undefined ? {} : { status: chosen }),
              });
            }}
          >
            <option value="">all</option>
            {statuses.map((each) => (
              <option key={each} value={each}>
                {each.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label="Subject"
        {...(subject === '' || identifier.test(subject) ? {} : { hint: 'No subject has such a name.' })}
      >
        {(ids) => <input {...ids} value={subject} onChange={(event) => chooseSubject(event.target.value)} />}
      </Field>
    </div>
  );
}

function NoJobs({ filtered }: { readonly filtered: boolean }) {
  const project = useProject();
  if (filtered) return <p>No job is like this. Choose other filters.</p>;
  return (
    <p>
      Nothing was learned or asked yet.{' '}
      <Link to="/p/$project" params={{ project }}>
        Learn a first passage in the playground.
      </Link>
    </p>
  );
}
