import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ConsoleError, send } from '../api.js';
import { microusdOf, ReasonField, UsdField } from '../parts/fields.js';
import { ErrorNote } from '../parts/parts.js';
import { useProject } from '../project.js';
import { creditsQuery, of } from '../queries.js';

/** An operator gives credit to the project, and says why. */
export function GrantCredit({ onDone }: { readonly onDone: () => void }) {
  const project = useProject();
  const client = useQueryClient();
  const [usd, setUsd] = useState('20');
  const [reason, setReason] = useState('');
  const grant = useMutation({
    mutationFn: () => send('POST', `${of(project)}/grants`, { amount_microusd: microusdOf(usd), reason }),
    onSettled: () => client.invalidateQueries({ queryKey: creditsQuery(project).queryKey }),
    onSuccess: onDone,
  });
  // A second grant would give the credit twice.
  const isUnknown = grant.error instanceof ConsoleError && (grant.error.status === 0 || grant.error.status >= 500);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        grant.mutate();
      }}
    >
      <UsdField label="Amount, in USD" minUsd={0.000001} maxUsd={1_000_000} value={usd} onChange={setUsd} />
      <ReasonField value={reason} onChange={setReason} />
      {isUnknown ? (
        <p className="note bad" role="alert">
          The service gave no answer, so nobody knows whether the credit was granted. Look in the ledger before you
          grant it again.
        </p>
      ) : (
        <ErrorNote error={grant.error} />
      )}
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
