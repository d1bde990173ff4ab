import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingYet, total } from './report.mjs';

test('what all parts found is summed, and the longest recovery is that of any part', () => {
  const failures = [{ what: 'a job is lost', repeat: 'again' }];
  const crashes = { ...nothingYet(), faults: 3, jobs: 5, lost_jobs: 1, recoveries_s: [0.5, 2.5], failures };
  const isolation = { ...nothingYet(), leaks_tried: 7 };
  assert.deepEqual(total([crashes, isolation]), {
    faults: 3,
    jobs: 5,
    lost_jobs: 1,
    double_charges: 0,
    leaks_tried: 7,
    leaks_found: 0,
    longest_recovery_s: 2.5,
    failures: 1,
  });
  assert.equal(total([isolation]).longest_recovery_s, null, 'nothing had to recover');
});
