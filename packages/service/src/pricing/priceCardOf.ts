import { priceCards, type PriceCard } from '@engraft/contract';

/** The card that was fixed at a job's admission. Throws for a card that was never published. */
export function priceCardOf(pricingVersion: string): PriceCard {
  const card = priceCards.find(({ version }) => version === pricingVersion);
  if (card === undefined) throw new Error(`there is no price card ${pricingVersion}`);
  return card;
}
