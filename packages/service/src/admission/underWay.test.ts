import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { UnderWay } from './underWay.js';

test('as many requests are under way as have begun and not ended, for each project and for all', () => {
  const events = fc.array(fc.record({ project: fc.constantFrom('one', 'another'), ends: fc.option(fc.nat()) }));
  fc.assert(
    fc.property(events, (all) => {
      const underWay = new UnderWay();
      const begun: { project: string; end: () => void }[] = [];
      for (const { project, ends } of all) {
        if (ends === null) begun.push({ project, end: underWay.begin(project) });
        else begun.splice(ends % Math.max(1, begun.length), 1)[0]?.end();
        for (const wanted of ['one', 'another']) {
          const ofProject = begun.filter((each) => each.project === wanted);
          assert.deepEqual(underWay.counts(wanted), { of_project: ofProject.length, of_service: begun.length });
        }
      }
    }),
  );
});
