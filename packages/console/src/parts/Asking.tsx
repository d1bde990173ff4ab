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

/** A side with its job, or with the reason why there is none. */
type Asked = { readonly title: string } & (
  { readonly job_id: string; readonly error: null } | { readonly job_id: null; readonly error: unknown }
);

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
      const body = { subject_id: subject, question, ...(tenant === '' ? {} : { tenant_id: tenant }) };
      return Promise.all(sides.map((side, index) => askSide(project, side, body, `${key}-${index}`)));
    },
    // The same question once more asks only those that were not admitted.
    onSuccess: (all) => {
      if (all.every(({ error }) => error === null)) idempotency.done();
    },
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
          {ask.data.map(({ title, job_id, error }, index) =>
            job_id === null ? (
              <div key={index} className="reply">
                <h3>{title}</h3>
                <ErrorNote error={error} />
              </div>
            ) : (
              <Reply key={job_id} title={title} job_id={job_id} />
            ),
          )}
        </div>
      )}
    </>
  );
}

/** A side that is refused, such as a version that has expired, hides none of the others, which are charged. */
async function askSide(project: string, { title, adapter_version }: Side, body: object, key: string): Promise<Asked> {
  const request = { ...body, ...(adapter_version === null ? {} : { adapter_version }) };
  return post(consoleReceipt, `${of(project)}/inferences`, request, key).then(
    ({ id }) => ({ title, job_id: id, error: null }),
    (error: unknown) => ({ title, job_id: null, error }),
  );
}

function Reply({ title, job_id }: { readonly title: string; readonly job_id: string }) {
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
