import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { z } from 'zod';
import { database, engraft, json, open, close } from '../testing/commandTest.js';

before(open);
after(close);

describe('engraft doctor', () => {
  it('finds nothing wrong with a good installation', async () => {
    const report = z.strictObject({
      ok: z.literal(true),
      checks: z.array(z.strictObject({ name: z.string(), ok: z.literal(true), detail: z.string() })),
    });
    const { checks } = await json(report, 'doctor');
    assert.deepEqual(
      checks.map(({ name }) => name),
      ['node', 'data folder', 'database', 'clock', 'model', 'engine'],
    );
    assert.match(checks.at(-1)?.detail ?? '', /^embedded, .*; \d+ retained versions?$/);
    // As if the clock had gone back an hour since the service ran.
    const ahead = { seen_at: sql<Date>`now() + interval '1 hour'` };
    await database.db.updateTable('clock').set(ahead).execute();
    const broken = await engraft(['doctor', '--json'], { ENGRAFT_MODEL_DIR: '/nowhere' });
    await database.db
      .updateTable('clock')
      .set({ seen_at: sql<Date>`now()` })
      .execute();
    assert.equal(broken.status, 1);
    assert.match(broken.stderr, /^engraft: something is wrong with: clock, model, engine\n$/);
    assert.match(broken.stdout, /seconds before the last look at it: the clock was set back/);
  });

  it('says that it works with the rights of the owner of the tables where it cannot have others', async () => {
    const name = `engraft_test_${randomBytes(6).toString('hex')}`;
    const run = (statement: string) => sql.raw(statement).execute(database.owner);
    await run(`create role ${name} login password 'secret'`);
    await run(`create database ${name} owner ${name}`);
    const url = new URL(database.url);
    [url.username, url.password, url.pathname] = [name, 'secret', `/${name}`];
    try {
      const { status, stdout } = await engraft(['doctor'], { DATABASE_URL: url.href, ENGRAFT_ENGINE: 'off' });
      assert.equal(status, 0);
      assert.match(
        stdout,
        /DATABASE_URL, with the rights of the owner of its tables: its user may not prepare the role/,
      );
    } finally {
      await run(`drop database ${name} with (force)`);
      await run(`drop role ${name}`);
    }
  });
});
