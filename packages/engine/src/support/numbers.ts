export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The number of elements of a tensor, the product of its dimensions. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((count, length) => count * length, 1);
}
