import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { z } from 'zod';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { createTestVersion } from '../testing/testVersion.js';
import {
  database,
  engraft,
  json,
  assertFails,
  project,
  newKey,
  listedKey,
  open,
  close,
} from '../testing/commandTest.js';

before(open);
after(close);

describe('engraft for projects, keys and money', () => {
  it('manages projects', async () => {
    const made = await json(project, 'project', 'create', 'acme');
    assert.deepEqual(made.settings, {
      monthly_spending_limit_microusd: null,
      monthly_learning_capacity_microusd: null,
      version_retention_days: 30,
      requests_per_minute: 600,
    });
    const changed = await json(
      project,
      'project',
      'set',
      'acme',
      'monthly_spending_limit_microusd=5000000',
      'requests_per_minute=7',
    );
    assert.deepEqual(
      [changed.settings.monthly_spending_limit_microusd, changed.settings.requests_per_minute],
      [5e6, 7],
    );
    const cleared = await json(project, 'project', 'set', 'acme', 'monthly_spending_limit_microusd=none');
    assert.equal(cleared.settings.monthly_spending_limit_microusd, null);
    const listed = await json(z.array(project), 'project', 'list');
    assert.deepEqual(listed, [cleared]);
    await assertFails(1, /there is a project 'acme' already/, 'project', 'create', 'acme');
    await assertFails(
      1,
      /there is no project 'nobody'; `engraft project list` lists all/,
      'project',
      'set',
      'nobody',
      'requests_per_minute=7',
    );
    await assertFails(
      2,
      /there is no setting 'colour': use monthly_spending_limit_microusd, .*requests_per_minute$/m,
      'project',
      'set',
      'acme',
      'colour=blue',
    );
    await assertFails(2, /version_retention_days/, 'project', 'set', 'acme', 'version_retention_days=0');
    await assertFails(
      2,
      /monthly_learning_capacity_microusd/,
      'project',
      'set',
      'acme',
      'monthly_learning_capacity_microusd=-1',
    );
  });

  it('manages keys', async () => {
    const made = await json(newKey, 'key', 'create', '--project', 'acme');
    assert.deepEqual([made.scopes, made.tenant_id], [['inference'], null]);
    const days = (Date.parse(made.expires_at ?? '') - Date.now()) / 86_400_000;
    assert.ok(days > 89.9 && days <= 90, 'the default expiry is 90 days');
    const other = await json(
      newKey,
      ...['key', 'create', '--project', 'acme', '--name', 'ops', '--scope', 'read', '--scope', 'adapters'],
      ...['--tenant', 'blue', '--expires', 'never'],
    );
    assert.deepEqual(
      [other.name, other.scopes, other.tenant_id, other.expires_at],
      ['ops', ['read', 'adapters'], 'blue', null],
    );
    const dated = await json(
      newKey,
      ...['key', 'create', '--project', 'acme', '--expires-at', '2030-01-31T12:00:00+01:00'],
    );
    assert.equal(dated.expires_at, '2030-01-31T11:00:00.000Z');
    const listed = await json(z.array(listedKey), 'key', 'list', '--project', 'acme');
    assert.deepEqual(
      listed.map(({ id }) => id),
      [made.id, other.id, dated.id],
    );
    const revoked = await json(listedKey, 'key', 'revoke', made.id);
    assert.notEqual(revoked.revoked_at, null);
    const plain = await engraft(['key', 'create', '--project', 'acme']);
    assert.match(plain.stdout, /^engraft_[\w-]{43}\n/, 'the secret comes first');
    await assertFails(
      1,
      /there is no key 'key_none'; `engraft key list --project NAME` lists/,
      'key',
      'revoke',
      'key_none',
    );
    await assertFails(1, /there is no project 'nobody'/, 'key', 'create', '--project', 'nobody');
    await assertFails(
      2,
      /--scope must be one of .*, not 'everything'/,
      'key',
      'create',
      '--project',
      'acme',
      '--scope',
      'everything',
    );
    await assertFails(2, /'--expires <lifetime>'/, 'key', 'create', '--project', 'acme', '--expires', '5d');
    await assertFails(
      2,
      /--expires-at must be a time like .*, not 'tomorrow'/,
      'key',
      'create',
      '--project',
      'acme',
      '--expires-at',
      'tomorrow',
    );
    await assertFails(
      2,
      /--expires-at must be in the future/,
      'key',
      'create',
      '--project',
      'acme',
      '--expires-at',
      '2020-01-01T00:00:00Z',
    );
    const empty = await json(newKey, 'key', 'create', '--project', 'acme', '--expires', '', '--name=');
    assert.deepEqual([empty.name, empty.tenant_id], ['key', null], 'an empty flag counts as unset');
    // The key would have all tenants.
    for (const flag of [['--tenant', ''], ['--tenant=']]) {
      await assertFails(2, /--tenant is empty/, 'key', 'create', '--project', 'acme', ...flag);
    }
    await assertFails(2, /not a tenant name/, 'key', 'create', '--project', 'acme', '--tenant', 'a b');
    await assertFails(2, /--project/, 'key', 'create');
  });

  it('grants credit and shows balances, exactly', async () => {
    const available = z.strictObject({ available_microusd: z.number() });
    await json(available, 'credit', 'grant', '--project', 'acme', '--usd', '0.1');
    const granted = await json(available, 'credit', 'grant', '--project', 'acme', '--usd', '0.200001');
    assert.equal(granted.available_microusd, 300_001);
    const balance = z.strictObject({
      available_microusd: z.number(),
      reserved_microusd: z.number(),
      spent_microusd: z.number(),
    });
    assert.deepEqual(await json(balance, 'balance', '--project', 'acme'), {
      available_microusd: 300_001,
      reserved_microusd: 0,
      spent_microusd: 0,
    });
    for (const amount of ['-1', '0', '1e3', '0.0000001']) {
      await assertFails(2, /--usd must be/, 'credit', 'grant', '--project', 'acme', `--usd=${amount}`);
    }
    await assertFails(
      2,
      /--usd must be less than 1,000,000,000 USD, not '1000000000'/,
      'credit',
      'grant',
      '--project',
      'acme',
      '--usd=1000000000',
    );
  });

  it('refuses a grant after which amounts were not exact any more, and changes nothing', async () => {
    for (let count = 0; count < 9; count += 1) {
      assert.equal((await engraft(['credit', 'grant', '--project', 'acme', '--usd', '999999999'])).status, 0);
    }
    await assertFails(
      2,
      /--usd is too much: at most .* USD can be granted in all/,
      'credit',
      'grant',
      '--project',
      'acme',
      '--usd',
      '999999999',
    );
    assert.equal((await engraft(['balance', '--project', 'acme'])).status, 0);
  });

  it('verifies the ledger, and names what differs', async () => {
    const report = z.strictObject({
      ok: z.boolean(),
      projects: z.number(),
      transfers: z.number(),
      differences: z.array(z.string()),
    });
    assert.deepEqual(await json(report, 'ledger', 'verify'), { ok: true, projects: 1, transfers: 11, differences: [] });
  });

  it('settles and expires what an operator names, and nothing else', async () => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const version = await createTestVersion(database.db, key);
    const expired = z.strictObject({ id: z.string(), expires_at: z.iso.datetime() });
    const first = await json(expired, 'version', 'expire', version.id);
    assert.ok(Date.parse(first.expires_at) <= Date.now());
    assert.deepEqual(await json(expired, 'version', 'expire', version.id), first);
    await assertFails(1, /there is no version/, 'version', 'expire', 'ver_none');
    await assertFails(1, /there is no job/, 'job', 'resolve', 'job_none', '--release', '--reason', 'x');
    await assertFails(
      1,
      /cannot be settled by hand: it is .*, not reconciliation_required/,
      'job',
      'resolve',
      version.job_id,
      '--charge-microusd',
      '1',
      '--reason=x',
    );
    await assertFails(2, /--charge-microusd N or --release/, 'job', 'resolve', version.job_id, '--reason=x');
    await assertFails(
      2,
      /--charge-microusd must be a whole number of micro-USD, not '1\.5'/,
      'job',
      'resolve',
      version.job_id,
      '--charge-microusd=1.5',
      '--reason=x',
    );
    await assertFails(
      2,
      /cannot be used with/,
      'job',
      'resolve',
      version.job_id,
      '--charge-microusd=1',
      '--reason=x',
      '--release',
    );
  });
});
