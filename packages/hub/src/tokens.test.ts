import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PullOptions } from './pullModel.js';
import { documentedRule } from './testing/documentedRule.js';
import { modelId, openBench, type Bench } from './testing/pulling.js';

const secret = 'hf_not-to-be-told';
const files = {
  'config.json': '{"hidden_size": 8}',
  'a.txt': 'a',
  'b.txt': 'b',
  'c.txt': 'c',
  'model.safetensors': Buffer.alloc(5000, 3),
};

function withToken({ hub, cacheFolder }: Bench, given = secret): Partial<PullOptions> {
  const token = { secret: given, source: 'HF_TOKEN' };
  return { settings: { endpoint: hub.endpoint, token, cacheFolder, offline: false } };
}

documentedRule(
  'The token is sent to the hub alone, not to other hosts that it redirects to, and is never printed.',
  async (t) => {
    const bench = await openBench(t);
    const { hub } = bench;
    hub.put(modelId, files);
    hub.faults.token = secret;
    hub.faults.pagesElsewhere = true;
    assert.equal((await bench.pull(modelId, withToken(bench))).kind, 'pulled');
    const sent = (host: string): unknown[] =>
      hub.seen.filter((seen) => seen.host === host).map((seen) => seen.headers.authorization);
    assert.ok(sent('hub').length > 0 && sent('hub').every((header) => header === `Bearer ${secret}`));
    assert.ok(
      hub.seen.some(({ host, path }) => host === 'cdn' && path.startsWith('/api/')),
      'a page lies elsewhere',
    );
    assert.ok(
      hub.seen.some(({ host, path }) => host === 'cdn' && path.startsWith('/signed/')),
      'a file lies elsewhere',
    );
    assert.ok(sent('cdn').every((header) => header === undefined));
  },
);

test('no error tells the token', async (t) => {
  const bench = await openBench(t);
  const { hub } = bench;
  hub.put(modelId, files);
  const faults: readonly (() => void)[] = [
    () => (hub.faults.token = 'hf_another'),
    () => (hub.faults.isGated = true),
    () => (hub.faults.status = () => 500),
    () => (hub.faults.status = () => 418),
  ];
  for (const break_ of faults) {
    Object.assign(hub.faults, { token: null, isGated: false, status: () => null });
    break_();
    await assert.rejects(bench.pull(modelId, withToken(bench)), (error: Error) => {
      for (let at: unknown = error; at instanceof Error; at = at.cause)
        assert.ok(!`${at.message}${at.stack}`.includes(secret));
      return true;
    });
  }
});

test('who may not read a model is told how to get a token', async (t) => {
  const bench = await openBench(t);
  const { hub, pull } = bench;
  const { endpoint } = hub;
  hub.put(modelId, files);
  hub.faults.token = 'hf_another';
  await assert.rejects(pull(), {
    code: 'access_denied',
    message:
      `acme/tiny does not exist, is private or is gated: check the name; if it is right, ask for access at ` +
      `${endpoint}/acme/tiny, make a token at ${endpoint}/settings/tokens and set HF_TOKEN to it`,
  });
  await assert.rejects(pull(modelId, withToken(bench)), {
    code: 'access_denied',
    message: /refuses the token of HF_TOKEN: make a token at .*\/settings\/tokens and set HF_TOKEN to it$/,
  });
  hub.faults.isGated = true;
  await assert.rejects(pull(modelId, withToken(bench, 'hf_another')), {
    code: 'access_denied',
    message: /^acme\/tiny is gated: ask for access at .*\/acme\/tiny with the account of your token/,
  });
  await assert.rejects(pull(), { code: 'access_denied', message: /is gated: .* make a token at/ });
});

test('a name or a revision that is wrong is told from one another', async (t) => {
  const { hub, pull } = await openBench(t);
  hub.put(modelId, files);
  await assert.rejects(pull('acme/tinny'), { code: 'not_found', message: /^there is no acme\/tinny at .*HF_TOKEN/ });
  await assert.rejects(pull(`${modelId}@v9`), { code: 'not_found', message: /^acme\/tiny has no revision 'v9'/ });
});

test('redirects that lead nowhere end', async (t) => {
  const { hub, pull } = await openBench(t);
  hub.put(modelId, files);
  hub.faults.redirectTo = '?again';
  await assert.rejects(pull(), { code: 'answer_invalid', message: /redirects without end/ });
  for (const address of ['file:///etc/passwd', 'http://user@localhost/x', 'http://']) {
    hub.faults.redirectTo = address;
    await assert.rejects(pull(), { code: 'answer_invalid', message: /redirects to what is no address/ });
  }
});
