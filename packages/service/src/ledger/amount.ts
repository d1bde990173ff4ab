/** Every amount that moves is a positive integer of micro-USD. Anything else is the caller's mistake. */
export function assertAmount(amountMicrousd: number): void {
  if (!Number.isSafeInteger(amountMicrousd) || amountMicrousd <= 0) {
    throw new RangeError(`an amount must be a positive integer of micro-USD, not ${amountMicrousd}`);
  }
}
