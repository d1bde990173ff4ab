// The ways in which PyTorch may run, of which the fastest is the peer; and what a comparison with it asks for first.

/** Precisions by the names that the Python scripts take. */
export const precisionNames = { float32: 'float32', bfloat16: 'bfloat16 autocast' };

/** A way that takes so many times as long as the fastest will not overtake it. */
const tooSlow = 5;
/** A first step may take twice as long as those that follow. */
const warmUp = 2;

/**
 * Chooses the ways that are worth measuring, from one step in each: of each precision the faster way of waiting, unless
 * it is far slower than the fastest of all. Without instructions for bfloat16 a processor may take ten times as long
 * with it.
 * @template {{ precision: string, waiting: string, seconds: number }} Trial
 * @param {Trial[]} trials
 * @returns {(Trial & { isMeasured: boolean })[]} one for each precision, in the order of the trials
 */
export function chooseWays(trials) {
  const fastest = Math.min(...trials.map(({ seconds }) => seconds));
  const precisions = [...new Set(trials.map(({ precision }) => precision))];
  return precisions.map((precision) => {
    const [best] = trials.filter((trial) => trial.precision === precision).sort((a, b) => a.seconds - b.seconds);
    return { ...best, isMeasured: best.seconds <= tooSlow * fastest };
  });
}

/**
 * Seconds of a step in every way that a peer's process offers. The first step of each warms up; where that one alone
 * takes far longer than the others have taken, it is enough.
 * @param {string} waiting
 * @param {(precision: string) => Promise<{ wall_s: number }>} step
 * @param {{ seconds: number }[]} earlier trials of other processes
 */
export async function tryPrecisions(waiting, step, earlier = []) {
  const trials = [];
  for (const precision of Object.keys(precisionNames)) {
    const fastest = Math.min(...[...earlier, ...trials].map(({ seconds }) => seconds));
    const { wall_s: first } = await step(precision);
    const isHopeless = first > warmUp * tooSlow * fastest;
    trials.push({ precision, waiting, seconds: isHopeless ? first : (await step(precision)).wall_s });
  }
  return trials;
}

/** Before any training an adapter adds nothing, so both losses are those of the base model. */
export function requireSameLoss(ours, theirs) {
  if (Math.abs(ours - theirs) <= 1e-3 * theirs) return;
  throw new Error(`the peers compute different things: a loss of ${ours} and one of ${theirs}`);
}
