import { consoleReceipt } from '@engraft/contract/console';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../api.js';
import { formatUsd } from '../format.js';
import { useIdempotencyKey } from '../idempotency.js';
import { useProject } from '../project.js';
import { hasEnded, jobQuery, of } from '../queries.js';
import { ErrorNote, Field, Status } from './parts.js';

/** One of those that are asked. */
export interface Side {
  readonly title: string;
  /** `null` for the version that is active. */
  readonly adapter_version: string | null;
}

interface Asked {
  readonly title: string;
  readonly job_id: string;
}

/** One question to several versions of a subject, with their answers side by side. */
export function Asking(props: {
  readonly subject: string;
  readonly tenant?: string;
  readonly sides: readonly Side[];
  readonly example?: string;
  readonly onQuestion?: (question: string) => void;
}) {
  const { subject, tenant = '', sides } = props;
  const project = useProject();
  const [question, setQuestion] = useState(props.example ?? '');
  const idempotency = useIdempotencyKey();
  const ask = useMutation({
    mutationFn: async (): Promise<Asked[]> => {
      const key = idempotency.keyOf({ subject, tenant, sides, question });
      return Promise.all(
        sides.map(async ({ title, adapter_version }, index) => {
          const body = {
            subject_id: subject,
            question,
            ...(tenant === '' ? {} : { tenant_id: tenant }),
            ...(adapter_version === null ? {} : { adapter_version }),
          };
          const { id } = await post(consoleReceipt, `${of(project)}/inferences`, body, `${key}-${index}`);
          return { title, job_id: id };
        }),
      );
    },
    onSuccess: () => idempotency.done(),
  });
  const change = (text: string): void => {
    setQuestion(text);
    props.onQuestion?.(text);
  };
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          ask.mutate();
        }}
      >
        <Field label="Question">
          {(ids) => (
            <input
              {...ids}
              required
              maxLength={16_000}
              value={question}
              onChange={(event) => change(event.target.value)}
            />
          )}
        </Field>
        <ErrorNote error={ask.error} />
        <button className="primary" disabled={ask.isPending}>
          Ask
        </button>
      </form>
      {ask.data !== undefined && (
        <div className="columns">
          {ask.data.map((asked) => (
            <Reply key={asked.job_id} {...asked} />
          ))}
        </div>
      )}
    </>
  );
}

function Reply({ title, job_id }: Asked) {
  const { data, error } = useQuery(jobQuery(useProject(), job_id));
  const job = data?.job;
  return (
    <div className="reply">
      <h3>{title}</h3>
      <ErrorNote error={error} />
      <div aria-live="polite">
        {job?.result && 'text' in job.result && <blockquote>{job.result.text}</blockquote>}
        {job !== undefined && !hasEnded(job.status) && <p className="hint">{job.phase}…</p>}
        {job?.error && <p className="note bad">It ended with the error {job.error.code.replaceAll('_', ' ')}.</p>}
      </div>
      {job !== undefined && (
        <p className="hint">
          <Status name={job.status} /> by <code>{job.adapter_version.slice(0, 14)}</code>
          {job.billing.settled && ` · ${formatUsd(job.billing.charged_microusd)}`}
        </p>
      )}
    </div>
  );
}
