import { z } from 'zod';

/** More points than a chart can show are no use, and the curve is kept with the job. */
export const maxLossPoints = 200;

/** The training loss, as means over so many steps each. The steps of the last point may be fewer. */
export const lossCurveSchema = z.strictObject({
  steps_per_point: z.int().positive(),
  losses: z.array(z.number()).max(maxLossPoints).readonly(),
  /** The steps since the last whole point. */
  open: z.strictObject({ steps: z.int().nonnegative(), loss_sum: z.number() }),
});
export type LossCurve = z.infer<typeof lossCurveSchema>;

export const emptyCurve: LossCurve = { steps_per_point: 1, losses: [], open: { steps: 0, loss_sum: 0 } };

/** The curve with the loss of one more step. A full curve halves its points first. */
export function withLoss(curve: LossCurve, loss: number): LossCurve {
  const open = { steps: curve.open.steps + 1, loss_sum: curve.open.loss_sum + loss };
  if (open.steps < curve.steps_per_point) return { ...curve, open };
  const losses = [...curve.losses, open.loss_sum / open.steps];
  const whole = { ...curve, losses, open: emptyCurve.open };
  return losses.length < maxLossPoints ? whole : halved(whole);
}

function halved({ steps_per_point, losses, open }: LossCurve): LossCurve {
  const pairs = losses.flatMap((loss, index) => (index % 2 === 0 ? [(loss + (losses[index + 1] ?? loss)) / 2] : []));
  return { steps_per_point: 2 * steps_per_point, losses: pairs, open };
}

/** A point of a curve as it is shown, with the last step that it covers. */
export interface LossPoint {
  readonly step: number;
  readonly loss: number;
}

export function lossPoints({ steps_per_point, losses, open }: LossCurve): LossPoint[] {
  const whole = losses.map((loss, index) => ({ step: (index + 1) * steps_per_point, loss }));
  if (open.steps === 0) return whole;
  return [...whole, { step: losses.length * steps_per_point + open.steps, loss: open.loss_sum / open.steps }];
}
