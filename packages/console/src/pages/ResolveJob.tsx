import type { Job } from '@engraft/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../api.js';
import { formatUsd } from '../format.js';
import { microusdOf, ReasonField, UsdField } from '../parts/fields.js';
import { ErrorNote } from '../parts/parts.js';
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
        charged_microusd: microusdOf(usd),
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
      <UsdField
        label="Charge, in USD"
        hint={`From 0, which releases everything, to the reserved ${formatUsd(job.billing.reserved_microusd)}.`}
        minUsd={0}
        maxUsd={job.billing.reserved_microusd / 1_000_000}
        value={usd}
        onChange={setUsd}
      />
      <ReasonField value={reason} onChange={setReason} />
      <ErrorNote error={resolve.error} />
      <button className="primary" disabled={resolve.isPending}>
        Settle the job
      </button>
    </form>
  );
}
