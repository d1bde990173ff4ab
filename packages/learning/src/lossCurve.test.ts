import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { emptyCurve, lossCurveSchema, lossPoints, maxLossPoints, withLoss } from './lossCurve.js';

test('a loss curve is bounded, covers every step, and keeps the mean of all losses', () => {
  const losses = fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { maxLength: 1_500 });
  fc.assert(
    fc.property(losses, (all) => {
      const curve = all.reduce(withLoss, emptyCurve);
      const points = lossPoints(lossCurveSchema.parse(JSON.parse(JSON.stringify(curve))));
      assert.ok(points.length <= maxLossPoints);
      assert.equal(points.at(-1)?.step ?? 0, all.length);
      const weighted = points.map(({ step, loss }, index) => loss * (step - (points[index - 1]?.step ?? 0)));
      const sum = weighted.reduce((total, each) => total + each, 0);
      const expected = all.reduce((total, each) => total + each, 0);
      assert.ok(Math.abs(sum - expected) <= 1e-9 * Math.max(1, expected), `${sum} and ${expected}`);
    }),
  );
});

test('a short training has a point for each step', () => {
  const curve = [3, 2, 1].reduce(withLoss, emptyCurve);
  assert.deepEqual(lossPoints(curve), [
    { step: 1, loss: 3 },
    { step: 2, loss: 2 },
    { step: 3, loss: 1 },
  ]);
});
