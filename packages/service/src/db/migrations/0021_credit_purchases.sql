-- Credit that was bought. Each payment is booked once, however often and by whatever event it is told.
CREATE TABLE credit_purchases (
  -- Stripe's session of Checkout.
  checkout_id text PRIMARY KEY,
  -- The event that told of it first.
  event_id text NOT NULL UNIQUE,
  project_id text NOT NULL REFERENCES projects,
  amount_microusd bigint NOT NULL CHECK (amount_microusd > 0),
  created_at timestamptz NOT NULL DEFAULT now()
);
