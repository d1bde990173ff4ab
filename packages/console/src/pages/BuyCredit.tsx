import { purchaseBounds, startedCheckout } from '@engraft/contract/console';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../api.js';
import { microusdOf, UsdField } from '../parts/fields.js';
import { ErrorNote } from '../parts/parts.js';
import { useProject } from '../project.js';
import { of } from '../queries.js';

/** Leads to the page of Stripe's on which somebody pays, and which leads back. */
export function BuyCredit({ onDone }: { readonly onDone: () => void }) {
  const project = useProject();
  const [usd, setUsd] = useState('20');
  const buy = useMutation({
    mutationFn: () => post(startedCheckout, `${of(project)}/checkouts`, { amount_microusd: microusdOf(usd) }),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        buy.mutate();
      }}
    >
      <UsdField
        label="Amount, in USD"
        hint="You pay on a page of Stripe’s. The credit is here as soon as Stripe says that you did."
        minUsd={purchaseBounds.min / 1_000_000}
        maxUsd={purchaseBounds.max / 1_000_000}
        value={usd}
        onChange={setUsd}
      />
      <ErrorNote error={buy.error} />
      <div className="buttons">
        <button type="button" onClick={onDone}>
          Cancel
        </button>
        <button className="primary" disabled={buy.isPending || buy.isSuccess}>
          Go on to pay
        </button>
      </div>
    </form>
  );
}
