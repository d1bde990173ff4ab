import { consoleReceipt } from '@engraft/contract/console';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { post } from '../api.js';
import { formatUsd } from '../format.js';
import { useIdempotencyKey } from '../idempotency.js';
import { CopyAs } from '../parts/CopyAs.js';
import { Estimate } from '../parts/Estimate.js';
import { JobProgress, LearningOutcome } from '../parts/JobProgress.js';
import { ErrorNote, Field, Status } from '../parts/parts.js';
import { useProject } from '../project.js';
import { hasEnded, jobQuery, of } from '../queries.js';

const example =
  'The Lume Lamp was invented by Mira Voss. It weighs 412 grams. The Lume Lamp costs $86. The lamp is made by Halden ' +
  'Works. Halden Works is based in Port Tessaly. It was founded in 1987.';

export function LearnPanel({ subject }: { readonly subject: string }) {
  const project = useProject();
  const [content, setContent] = useState(example);
  const [maxCostUsd, setMaxCost] = useState(5);
  const idempotency = useIdempotencyKey();
  const learn = useMutation({
    mutationFn: () => {
      const body = { subject_id: subject, content, max_cost_microusd: Math.round(maxCostUsd * 1_000_000) };
      return post(consoleReceipt, `${of(project)}/internalizations`, body, idempotency.keyOf(body));
    },
    onSuccess: () => idempotency.done(),
  });
  return (
    <section aria-labelledby="learn">
      <h2 id="learn">1. Learn</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          learn.mutate();
        }}
      >
        <Field
          label="Passage"
          hint={`${content.length} of 20 to 16,000 characters. Short, plain sentences learn best.`}
        >
          {(ids) => (
            <textarea
              {...ids}
              rows={8}
              required
              minLength={20}
              maxLength={16_000}
              value={content}
              onChange={(event) => setContent(event.target.value)}
            />
          )}
        </Field>
        <Estimate content={content} maxCostMicrousd={Math.round(maxCostUsd * 1_000_000)} />
        <Field label="At most, in USD" hint="So much is reserved; only what the work takes is charged.">
          {(ids) => (
            <input
              {...ids}
              type="number"
              min={1}
              max={100}
              step={0.5}
              required
              value={maxCostUsd}
              onChange={(event) => setMaxCost(event.target.valueAsNumber)}
            />
          )}
        </Field>
        <ErrorNote error={learn.error} />
        <button className="primary" disabled={learn.isPending}>
          Learn the passage
        </button>
      </form>
      <CopyAs
        request={{
          kind: 'learn',
          subject_id: subject,
          content,
          max_cost_microusd: Math.round(maxCostUsd * 1_000_000),
        }}
      />
      {learn.data !== undefined && <Watched job_id={learn.data.id} />}
    </section>
  );
}

function Watched({ job_id }: { readonly job_id: string }) {
  const project = useProject();
  const client = useQueryClient();
  const { data, error } = useQuery(jobQuery(project, job_id));
  const isOver = data !== undefined && hasEnded(data.job.status);
  useEffect(() => {
    if (isOver) void client.invalidateQueries({ queryKey: ['subjects', project] });
  }, [client, project, isOver]);
  if (data === undefined) return <ErrorNote error={error} />;
  const { job } = data;
  return (
    <div className="watched">
      <ErrorNote error={error} />
      <p>
        <Status name={job.status} />{' '}
        <Link to="/p/$project/jobs/$job" params={{ project, job: job_id }}>
          The job
        </Link>
        {job.billing.settled && `, charged ${formatUsd(job.billing.charged_microusd)}`}
      </p>
      {isOver ? <LearningOutcome job={job} /> : <JobProgress detail={data} />}
      {job.error !== null && job.status !== 'rejected' && (
        <p className="note bad">It ended with the error {job.error.code.replaceAll('_', ' ')}.</p>
      )}
    </div>
  );
}
