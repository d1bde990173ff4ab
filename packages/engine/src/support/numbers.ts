export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** NaN for no numbers. */
export function mean(numbers: readonly number[]): number {
  return sum(numbers) / numbers.length;
}
