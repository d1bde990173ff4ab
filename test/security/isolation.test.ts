import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { call } from '@engraft/service/testing/testApp.js';
import { isSameScope, IsolationWorld, subjectId } from './isolationWorld.js';
import { probeIsolation } from './probeIsolation.js';

let world: IsolationWorld;
before(async () => {
  world = await IsolationWorld.open();
});
after(() => world.close());

test("what is another project's or tenant's answers exactly like what is not there, whoever asks for whatever", async () => {
  let tried = 0;
  await probeIsolation(world, { probes: 60, onProbed: (probed) => (tried += probed.tried) });
  assert.ok(tried > 100, `only ${tried} requests asked for what is others'`);
});

test('lists and metrics show nothing of others, and an idempotency key of theirs is free', async () => {
  const { holdings } = world;
  for (const { owner } of holdings) {
    const seen = await Promise.all(['/v1/jobs?limit=100', '/v1/subjects'].map((url) => world.get(url, owner)));
    const metrics = await call(world.service.app, 'GET', '/metrics');
    for (const { owner: other, job_id, version_id } of holdings) {
      const mine = isSameScope(owner, other);
      assert.equal(seen[0]?.body.includes(job_id), mine);
      assert.equal(seen[1]?.body.includes(version_id), mine);
      for (const name of [job_id, version_id, other.key.id, other.key.project_id, subjectId]) {
        assert.equal(metrics.body.includes(name), false);
      }
    }
  }
  // Each of the six namespaces admitted a job of its own under one key.
  assert.equal(new Set(holdings.map(({ job_id }) => job_id)).size, 6);
});
