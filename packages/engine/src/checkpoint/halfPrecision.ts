/** IEEE 754 binary16, which safetensors calls F16. Node.js has it built in from version 24. */

/** Rounds to the nearest half, ties to even. From 65,520 on the result is infinite. */
export function toHalves(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  // A plain loop: `Uint16Array.from` takes ten times as long.
  for (let index = 0; index < halves.length; index += 1) halves[index] = halfOf(values[index] ?? 0, bits[index] ?? 0);
  return halves;
}

/** Looking a number up takes a twentieth of the time of computing it, and models have hundreds of millions. */
const numbers = Float32Array.from({ length: 2 ** 16 }, (_, bits) => numberOf(bits));

export function halfToNumber(bits: number): number {
  return numbers[bits] ?? NaN;
}

function numberOf(bits: number): number {
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const [halfInfinity, halfNaN] = [0x7c00, 0x7e00];
/** The float32 bits of the smallest normal half, and the difference between the exponents' biases. */
const [leastNormal, biasDifference] = [0x38800000, 0x38000000];

function halfOf(value: number, bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (Number.isNaN(value)) return sign | halfNaN;
  // A float64 of this size has no bits below 1, so the addition rounds to whole multiples of the smallest half.
  if (magnitude < leastNormal) return sign | (Math.abs(value) * 2 ** 24 + 2 ** 52 - 2 ** 52);
  const rebiased = magnitude - biasDifference;
  const lastBit = (rebiased >>> 13) & 1;
  return sign | Math.min(halfInfinity, (rebiased + 0xfff + lastBit) >>> 13);
}
