/**
 * Whether all numbers from `start` to before `end` are finite. Zero times a finite number is zero, and zeros add up to
 * zero.
 */
export function allFinite(data: Float32Array, start = 0, end = data.length): boolean {
  // Four sums, because each addition waits for the one before it. This runs for every token.
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let index = start;
  for (; index + 3 < end; index += 4) {
    a += (data[index] ?? NaN) * 0;
    b += (data[index + 1] ?? NaN) * 0;
    c += (data[index + 2] ?? NaN) * 0;
    d += (data[index + 3] ?? NaN) * 0;
  }
  for (; index < end; index += 1) a += (data[index] ?? NaN) * 0;
  return a + b + c + d === 0;
}
