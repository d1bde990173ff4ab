import type { Job } from '@engraft/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../api.js';
import { formatUsd } from '../format.js';
import { ErrorNote, Field } from '../parts/parts.js';
import { useProject } from '../project.js';
import { jobQuery, of } from '../queries.js';

/** An operator says what a job was found to cost, and why. */
export function ResolveJob({ job }: { readonly job: Job }) {
  const project = useProject();
  const client = useQueryClient();
  const [usd, setUsd] = useState('0');
  const [reason, setReason] = useState('');
  const resolve = useMutation({
    mutationFn: () =>
      send('POST', `${of(project)}/jobs/${encodeURIComponent(job.id)}/resolution`, {
        charged_microusd: Math.round(Number(usd) * 1_000_000),
        reason,
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: jobQuery(project, job.id).queryKey }),
  });
  return (
    <form
      aria-label="Settle the job"
      onSubmit={(event) => {
        event.preventDefault();
        resolve.mutate();
      }}
    >
      <Field
        label="Charge, in USD"
        hint={`From 0, which releases everything, to the reserved ${formatUsd(job.billing.reserved_microusd)}.`}
      >
        {(ids) => (
          <input
            {...ids}
            type="number"
            required
            min={0}
            max={job.billing.reserved_microusd / 1_000_000}
            step="any"
            value={usd}
            onChange={(event) => setUsd(event.target.value)}
          />
        )}
      </Field>
      <Field label="Reason" hint="It goes into the audit log, with your name.">
        {(ids) => (
          <input {...ids} required maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
        )}
      </Field>
      <ErrorNote error={resolve.error} />
      <button className="primary" disabled={resolve.isPending}>
        Settle the job
      </button>
    </form>
  );
}
