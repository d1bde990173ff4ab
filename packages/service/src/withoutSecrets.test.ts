import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { withoutSecrets } from './withoutSecrets.js';

describe('what the command line prints', () => {
  test('has no secret of the environment in it, as it is or as a library quotes it', () => {
    const key = 'egk_line\nbreak';
    for (const [env, text, shown] of [
      [{ ENGRAFT_API_KEY: key }, `"Bearer ${key}" is invalid`, '"Bearer <ENGRAFT_API_KEY>" is invalid'],
      [{ ENGRAFT_API_KEY: key }, `invalid: ${JSON.stringify(key)}`, 'invalid: "<ENGRAFT_API_KEY>"'],
      [{ AWS_SECRET_ACCESS_KEY: 'abcd1234' }, 'abcd1234', '<AWS_SECRET_ACCESS_KEY>'],
      [{ PGPASSWORD: 'pa55word' }, 'password pa55word', 'password <PGPASSWORD>'],
      [{ HF_TOKEN: 'hf_secret ' }, 'token hf_secret.', 'token <HF_TOKEN>.'],
      [{ DATABASE_URL: 'postgres://u:pa55@h/x' }, 'to postgres://u:pa55@h/x', 'to postgres://<DATABASE_URL>h/x'],
      [{ DATABASE_URL: 'postgres://u:pa%2355@h/x' }, 'as "pa#55"', 'as "<DATABASE_URL>"'],
      [{ DATABASE_URL: 'postgres://u:p@ss#word%@h:x' }, 'p@ss#word%', '<DATABASE_URL>'],
      [{ ENGRAFT_BASE_URL: 'http://me:pa55@h' }, 'http://me:pa55@h/v1', 'http://<ENGRAFT_BASE_URL>h/v1'],
    ] as const) {
      assert.equal(withoutSecrets(text, env), shown);
    }
  });

  test('is otherwise left alone', () => {
    const env = { HOME: '/root', ENGRAFT_BASE_URL: 'http://host:8080', SOME_KEY: 'abc', EMPTY_TOKEN: '' };
    assert.equal(withoutSecrets('abc in /root of http://host:8080', env), 'abc in /root of http://host:8080');
    fc.assert(fc.property(fc.string(), (text) => assert.equal(withoutSecrets(text, { HOME: text }), text)));
  });
});
