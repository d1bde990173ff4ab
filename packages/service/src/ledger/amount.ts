/** Every amount that moves is a positive integer of micro-USD. Anything else is the caller's mistake. */
export function assertAmount(amount_microusd: number): void {
  if (!Number.isSafeInteger(amount_microusd) || amount_microusd <= 0) {
    throw new RangeError(`an amount must be a positive integer of micro-USD, not ${amount_microusd}`);
  }
}
