/** Whether all numbers of a stretch are finite; zero times any finite number is zero, and the sum of zeros is zero. */
export function allFinite(data: Float32Array, start = 0, end = data.length): boolean {
  let sum = 0;
  for (let index = start; index < end; index += 1) sum += (data[index] ?? NaN) * 0;
  return sum === 0;
}
