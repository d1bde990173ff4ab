import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { createTestVersion, expireTestVersion } from '../testing/testVersion.js';
import { activateInNamespace } from '../versions/activateInNamespace.js';
import {
  database,
  passage,
  operation,
  newKey,
  admitted,
  assertRefused,
  readRow,
  open,
  close,
} from '../testing/admissionTest.js';

before(open);
after(close);

describe('the version of a job', () => {
  test('"omitted means the active version"; "`base` selects the clean base model"; a retained one is pinned', async () => {
    const key = await newKey();
    const older = await createTestVersion(database.db, key);
    const active = await createTestVersion(database.db, key);
    for (const [adapterVersion, expected] of [
      [undefined, active.id],
      ['base', 'base'],
      [older.id, older.id],
    ] as const) {
      const job = await readRow(await admitted(operation(key, { adapter_version: adapterVersion })));
      assert.equal(job.adapter_version, expected);
    }
  });

  test('"A new subject starts from base."', async () => {
    const job = await readRow(await admitted(operation(await newKey(), { subject_id: 'newcomer' })));
    assert.equal(job.adapter_version, 'base');
  });

  test('"A version that exists but belongs to another subject, tenant or project answers exactly like one that does not exist: 404."', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const version = await createTestVersion(database.db, key);
    const pinned = { adapter_version: version.id };
    await assertRefused('not_found', operation(key, { adapter_version: 'ver_000000000000000000000000' }));
    await assertRefused('not_found', operation(key, { adapter_version: 'no-version' }));
    await assertRefused('not_found', operation(key, { ...pinned, subject_id: 'another' }));
    await assertRefused('not_found', operation(key, { ...pinned, tenant_id: 'tenant' }));
    await assertRefused('not_found', operation(other, pinned));
  });

  test('a deadline that passed while nobody was there to move it on is made good before anything is refused for it', async () => {
    const key = await newKey();
    const active = await createTestVersion(database.db, key);
    const pass = () =>
      database.db
        .updateTable('versions')
        .set({ expires_at: sql<Date>`now() - interval '1 minute'` })
        .where('id', '=', active.id)
        .execute();
    await pass();
    assert.equal((await readRow(await admitted(operation(key)))).adapter_version, active.id);
    await pass();
    const activation = { version_id: active.id, expected_version_id: active.id };
    const owner = { project_id: key.project_id, tenant_id: null };
    assert.equal((await activateInNamespace(database.db, { ...owner, ...activation })).kind, 'activated');
  });

  test('"An existing subject whose active adapter has expired fails with `adapter_expired`; there is no automatic fallback."', async () => {
    const key = await newKey();
    const older = await createTestVersion(database.db, key);
    const active = await createTestVersion(database.db, key);
    await expireTestVersion(database.db, active.id);
    await assertRefused('adapter_expired', operation(key));
    await assertRefused('adapter_expired', operation(key, { request: passage }));
    await assertRefused('adapter_expired', operation(key, { adapter_version: active.id }));
    assert.equal(
      (await readRow(await admitted(operation(key, { adapter_version: older.id })))).adapter_version,
      older.id,
    );
    assert.equal((await readRow(await admitted(operation(key, { adapter_version: 'base' })))).adapter_version, 'base');
  });
});
