import { consoleReceipt } from '@engraft/contract/console';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../api.js';
import { formatUsd } from '../format.js';
import { useIdempotencyKey } from '../idempotency.js';
import { ErrorNote, Field, Status } from '../parts/parts.js';
import { useProject } from '../project.js';
import { hasEnded, jobQuery, of } from '../queries.js';

/** One question, answered by the clean base model and by what the subject has learned. */
export function AskPanel({ subject }: { readonly subject: string }) {
  const project = useProject();
  const [question, setQuestion] = useState('Who invented the Lume Lamp?');
  const [ofBase, ofActive] = [useIdempotencyKey(), useIdempotencyKey()];
  const ask = useMutation({
    mutationFn: async () => {
      const path = `${of(project)}/inferences`;
      const active = { subject_id: subject, question };
      const base = { ...active, adapter_version: 'base' };
      const [first, second] = await Promise.all([
        post(consoleReceipt, path, base, ofBase.keyOf(base)),
        post(consoleReceipt, path, active, ofActive.keyOf(active)),
      ]);
      return { base: first.id, active: second.id };
    },
    onSuccess: () => {
      ofBase.done();
      ofActive.done();
    },
  });
  return (
    <section aria-labelledby="ask">
      <h2 id="ask">2. Ask</h2>
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
              onChange={(event) => setQuestion(event.target.value)}
            />
          )}
        </Field>
        <ErrorNote error={ask.error} />
        <button className="primary" disabled={ask.isPending}>
          Ask both
        </button>
      </form>
      {ask.data !== undefined && (
        <div className="columns">
          <Reply title="Base" job_id={ask.data.base} />
          <Reply title="What is active" job_id={ask.data.active} />
        </div>
      )}
    </section>
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
