/**
 * Seeded pseudo-random numbers: xoshiro128** 1.1 (Blackman and Vigna, 2018,
 * https://prng.di.unimi.it/xoshiro128starstar.c). Not for secrets.
 * Published as `@engraft/engine/random`, for whoever draws without a model.
 */
export interface Random {
  /** Uniform in [0, 1), with 32 random bits. */
  next(): number;
}

/** The same `seed` gives the same sequence on every machine. It may be any finite number; its 53 integer bits count. */
export function createRandom(seed: number): Random {
  const whole = Math.trunc(seed);
  const state = seedState((whole >>> 0) ^ Math.imul(Math.floor(whole / 2 ** 32) | 0, 0x9e3779b1));
  return {
    next(): number {
      let [a, b, c, d] = state;
      const result = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0;
      const shifted = b << 9;
      c ^= a;
      d ^= b;
      b ^= c;
      a ^= d;
      c ^= shifted;
      d = rotateLeft(d, 11);
      state[0] = a;
      state[1] = b;
      state[2] = c;
      state[3] = d;
      return result / 2 ** 32;
    },
  };
}

/** Spreads one word over the four of the state with splitmix32, so that similar seeds give different sequences. */
function seedState(seed: number): [number, number, number, number] {
  let counter = seed | 0;
  const word = (): number => {
    counter = (counter + 0x9e3779b9) | 0;
    let mixed = counter ^ (counter >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return mixed ^ (mixed >>> 15);
  };
  return [word(), word(), word(), word()];
}

function rotateLeft(value: number, count: number): number {
  return (value << count) | (value >>> (32 - count));
}
