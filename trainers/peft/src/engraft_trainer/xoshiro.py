"""The engine's seeded random numbers: xoshiro128** 1.1 (https://prng.di.unimi.it/xoshiro128starstar.c)."""

MASK = 0xFFFFFFFF


class Random:
    """The same seed, from 0 to 2^32 - 1, gives the same numbers as the engine's `createRandom`."""

    def __init__(self, seed: int) -> None:
        self._state = _seed_state(seed)

    def next(self) -> float:
        """Uniform in [0, 1), with 32 random bits."""
        a, b, c, d = self._state
        result = (_rotate_left((b * 5) & MASK, 7) * 9) & MASK
        shifted = (b << 9) & MASK
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        self._state = (a, b, c, _rotate_left(d, 11))
        return result / 2**32


def _seed_state(seed: int) -> tuple[int, int, int, int]:
    """Spreads one word over four with splitmix32."""
    words = []
    counter = seed
    for _ in range(4):
        counter = (counter + 0x9E3779B9) & MASK
        mixed = counter ^ (counter >> 16)
        mixed = (mixed * 0x21F0AAAD) & MASK
        mixed ^= mixed >> 15
        mixed = (mixed * 0x735A2D97) & MASK
        words.append(mixed ^ (mixed >> 15))
    return words[0], words[1], words[2], words[3]


def _rotate_left(value: int, count: int) -> int:
    return ((value << count) | (value >> (32 - count))) & MASK
