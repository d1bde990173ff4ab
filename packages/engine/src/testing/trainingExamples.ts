/** Random training examples for tests. */
import { createRandom } from '../support/random.js';
import type { TrainingExample } from '../types.js';

/** Examples of `length` to `length + 4` random tokens, with different weights and beginnings of their targets. */
export function randomExamples(count: number, length: number, seed = 1): readonly TrainingExample[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    const tokens = Array.from({ length: length + (index % 5) }, () => Math.floor(random.next() * 50));
    return { sequence: { tokens, targetStart: 1 + (index % 7) }, weight: 1 + (index % 3) };
  });
}
