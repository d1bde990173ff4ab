import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../api.js';
import { ErrorNote, Field } from '../parts/parts.js';
import { useProject } from '../project.js';
import { creditsQuery, of } from '../queries.js';

/** An operator gives credit to the project, and says why. */
export function GrantCredit({ onDone }: { readonly onDone: () => void }) {
  const project = useProject();
  const client = useQueryClient();
  const [usd, setUsd] = useState('20');
  const [reason, setReason] = useState('');
  const grant = useMutation({
    mutationFn: () =>
      send('POST', `${of(project)}/grants`, { amount_microusd: Math.round(Number(usd) * 1_000_000), reason }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: creditsQuery(project).queryKey });
      onDone();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        grant.mutate();
      }}
    >
      <Field label="Amount, in USD">
        {(ids) => (
          <input
            {...ids}
            type="number"
            required
            min={0.000001}
            max={1_000_000}
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
      <ErrorNote error={grant.error} />
      <div className="buttons">
        <button type="button" onClick={onDone}>
          Cancel
        </button>
        <button className="primary" disabled={grant.isPending}>
          Grant
        </button>
      </div>
    </form>
  );
}
