/** Whether a server has the weights that it should have, by what they do to a few sequences. */

/**
 * A server with 16-bit weights differs from the losses in 32 bits by about a hundredth of a nat. An adapter changes the
 * losses of random tokens by tenths.
 */
const maxShare = 0.25;
const maxRounding = 0.03;

/**
 * Compares the losses of an adapter on a server with those that it was saved with. A cut or half-loaded adapter lies
 * between them and base's.
 */
export function isSameAdapter(losses: readonly number[], saved: readonly number[], base: readonly number[]): boolean {
  const effect = distance(saved, base);
  return losses.length === saved.length && distance(losses, saved) <= maxRounding + maxShare * effect;
}

/** For an adapter that was saved without losses: it must do something, and give numbers. */
export function hasEffect(losses: readonly number[], base: readonly number[]): boolean {
  return losses.every(Number.isFinite) && distance(losses, base) > 0;
}

/** Compares a server's model without an adapter with the checkpoint. */
export function isSameModel(losses: readonly number[], checkpoint: readonly number[]): boolean {
  const mean = checkpoint.reduce((total, loss) => total + loss, 0) / checkpoint.length;
  return losses.length === checkpoint.length && distance(losses, checkpoint) <= maxRounding + mean / 100;
}

/** The mean absolute difference. */
function distance(one: readonly number[], other: readonly number[]): number {
  return one.reduce((total, loss, index) => total + Math.abs(loss - (other[index] ?? Infinity)), 0) / one.length;
}
