/** Credit that is sold: what the service asks of whoever takes the money. */
export interface Payments {
  /** Opens a page on which the buyer pays. Nothing is booked before an event says that they did. */
  startCheckout(order: CreditOrder): Promise<CheckoutOutcome>;
  /** `signature` is the header that came with the body. */
  readEvent(body: Buffer, signature: string): PaymentEvent;
}

export interface CreditOrder {
  readonly project_id: string;
  /** Who buys. */
  readonly member: { readonly id: string; readonly email: string };
  /** A multiple of 10,000: whole cents are paid. */
  readonly amount_microusd: number;
  /** Where the browser goes afterwards, and where it goes if nothing was paid. */
  readonly paidUrl: string;
  readonly cancelledUrl: string;
}

export type CheckoutOutcome =
  | { readonly kind: 'started'; readonly url: string }
  /** `reason` is for the log. */
  | { readonly kind: 'unavailable'; readonly reason: string };

export interface PaidOrder {
  readonly event_id: string;
  /** One payment, of which several events may tell. */
  readonly checkout_id: string;
  readonly project_id: string;
  readonly member_id: string;
  readonly amount_microusd: number;
}

export type PaymentEvent =
  | { readonly kind: 'paid'; readonly order: PaidOrder }
  /** It tells of something else, or of what another program sells. */
  | { readonly kind: 'irrelevant' }
  /** Nobody knows who sent it, or it was sent long ago. */
  | { readonly kind: 'not_authentic' }
  /** It is signed, and yet no order of ours looks like it: another currency or amount, or a field that is missing. */
  | { readonly kind: 'unexpected'; readonly reason: string };
