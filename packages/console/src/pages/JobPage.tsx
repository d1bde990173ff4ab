import type { Job } from '@engraft/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { formatCount, formatTime, formatUsd } from '../format.js';
import { JobProgress, LearningOutcome } from '../parts/JobProgress.js';
import { ErrorNote, Loading, Status } from '../parts/parts.js';
import { useProject } from '../project.js';
import { jobQuery } from '../queries.js';

export function JobPage() {
  const project = useProject();
  const { job: jobId = '' } = useParams({ strict: false });
  const { data, error, isPending } = useQuery(jobQuery(project, jobId));
  return (
    <>
      <p>
        <Link to="/p/$project/jobs" params={{ project }}>
          ← Jobs
        </Link>
      </p>
      <ErrorNote error={error} />
      {isPending && <Loading what="the job" />}
      {data !== undefined && (
        <>
          <div className="title">
            <h1>
              {data.job.kind === 'inference' ? 'Question to' : 'Learning for'} {data.job.subject_id}
            </h1>
            <Status name={data.job.status} />
          </div>
          <p className="hint">
            <code>{data.job.id}</code> · sent by {data.submitted_by} · {formatTime(data.job.created_at)} ·{' '}
            {data.job.kind === 'inference' ? 'answered by' : 'parent'} <code>{data.job.adapter_version}</code>
            {data.job.tenant_id !== null && <> · tenant {data.job.tenant_id}</>}
          </p>
          {data.job.error !== null && data.job.status !== 'rejected' && (
            <p className="note bad">Ended with the error {data.job.error.code.replaceAll('_', ' ')}.</p>
          )}
          <LearningOutcome job={data.job} />
          <Answer job={data.job} />
          <h2>Phases</h2>
          <JobProgress detail={data} />
          <Cost job={data.job} />
        </>
      )}
    </>
  );
}

function Answer({ job: { result } }: { readonly job: Job }) {
  if (result === null || !('text' in result)) return null;
  return (
    <>
      <h2>Answer</h2>
      <blockquote>{result.text}</blockquote>
      {result.finish_reason === 'length' && <p className="hint">It was cut at the output ceiling.</p>}
    </>
  );
}

function Cost({ job: { usage, billing } }: { readonly job: Job }) {
  const rows = [
    ['Input tokens', usage.input_tokens],
    ['of these cached', usage.cached_input_tokens],
    ['Output tokens', usage.output_tokens],
    ['Training tokens', usage.training_tokens],
  ] as const;
  return (
    <>
      <h2>Usage and cost</h2>
      <table>
        <tbody>
          {rows.map(([name, tokens]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="number">{formatCount(tokens)}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">Compute</th>
            <td className="number">{formatUsd(billing.compute_microusd)}</td>
          </tr>
          <tr>
            <th scope="row">Storage</th>
            <td className="number">{formatUsd(billing.storage_microusd)}</td>
          </tr>
          <tr>
            <th scope="row">{billing.settled ? 'Charged' : 'Reserved, to be settled when the job ends'}</th>
            <td className="number">
              {formatUsd(billing.settled ? billing.charged_microusd : billing.reserved_microusd)}
            </td>
          </tr>
        </tbody>
      </table>
      <p className="hint">
        {formatUsd(billing.reserved_microusd)} were reserved, by the prices of {billing.pricing_version}.
      </p>
    </>
  );
}
