import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { readHubSettings, type Environment } from './settings.js';
import { documentedRule } from './testing/documentedRule.js';

const home = path.resolve('/home/ada');

async function folderWithToken(t: TestContext, text: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-hub-home-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(path.join(folder, 'sub'));
  await writeFile(path.join(folder, 'token'), text);
  return folder;
}

documentedRule("They are those of Python's `huggingface_hub`, and are read as it reads them.", async () => {
  const cacheOf = async (env: Environment): Promise<string> => (await readHubSettings(env, home)).cacheFolder;
  assert.equal(await cacheOf({}), path.join(home, '.cache', 'huggingface', 'hub'));
  assert.equal(await cacheOf({ XDG_CACHE_HOME: '/caches' }), path.resolve('/caches/huggingface/hub'));
  assert.equal(await cacheOf({ XDG_CACHE_HOME: '/caches', HF_HOME: '/models' }), path.resolve('/models/hub'));
  assert.equal(await cacheOf({ HF_HOME: '/models', HUGGINGFACE_HUB_CACHE: '/old' }), path.resolve('/old'));
  const env = { HF_HOME: '/models', HUGGINGFACE_HUB_CACHE: '/old', HF_HUB_CACHE: '/hub' };
  assert.equal(await cacheOf(env), path.resolve('/hub'));

  const endpointOf = async (hfEndpoint?: string): Promise<string> =>
    (await readHubSettings({ HF_ENDPOINT: hfEndpoint }, home)).endpoint;
  assert.equal(await endpointOf(), 'https://huggingface.co');
  assert.equal(await endpointOf('http://127.0.0.1:8000/mirror//'), 'http://127.0.0.1:8000/mirror');
});

documentedRule('An empty variable counts as unset.', async (t) => {
  const hfHome = await folderWithToken(t, 'hf_file');
  const unset = await readHubSettings({ HF_HOME: hfHome }, home);
  assert.equal(unset.token?.secret, 'hf_file');
  const empty = { HF_HOME: hfHome, HF_ENDPOINT: '', HF_TOKEN: ' ', HF_HUB_CACHE: '', HF_HUB_OFFLINE: '' };
  assert.deepEqual(await readHubSettings(empty, home), unset);
});

documentedRule('`~` at the beginning of a folder and `$NAME` in it are replaced.', async () => {
  const cacheOf = async (hfHubCache: string): Promise<string> =>
    (await readHubSettings({ HF_HUB_CACHE: hfHubCache, DISK: '/disk' }, home)).cacheFolder;
  assert.equal(await cacheOf('~/models'), path.join(home, 'models'));
  assert.equal(await cacheOf('$DISK/models'), path.resolve('/disk/models'));
  assert.equal(await cacheOf('${DISK}s/models'), path.resolve('/disks/models'));
  assert.equal(await cacheOf('/a~/$OTHER'), path.resolve('/a~/$OTHER'));
});

documentedRule(
  'what the file `$HF_HOME/token` holds, which `hf auth login` writes (`HF_TOKEN_PATH` names another)',
  async (t) => {
    const hfHome = await folderWithToken(t, '\n hf_file\r\n');
    const tokenOf = async (env: Environment): Promise<unknown> => (await readHubSettings(env, home)).token;
    assert.deepEqual(await tokenOf({ HF_HOME: hfHome }), { secret: 'hf_file', source: path.join(hfHome, 'token') });
    assert.deepEqual(await tokenOf({ HF_HOME: hfHome, HF_TOKEN: ' hf_variable ' }), {
      secret: 'hf_variable',
      source: 'HF_TOKEN',
    });
    const old = { secret: 'hf_old', source: 'HUGGING_FACE_HUB_TOKEN' };
    assert.deepEqual(await tokenOf({ HF_HOME: hfHome, HUGGING_FACE_HUB_TOKEN: 'hf_old' }), old);
    assert.equal(await tokenOf({ HF_HOME: hfHome, HF_TOKEN_PATH: path.join(hfHome, 'none') }), null);
    assert.equal(await tokenOf({ HF_HOME: hfHome, HF_HUB_DISABLE_IMPLICIT_TOKEN: '1' }), null);
    assert.equal(await tokenOf({}), null);
    await assert.rejects(
      tokenOf({ HF_HOME: hfHome, HF_TOKEN_PATH: path.join(hfHome, 'sub') }),
      /cannot be read; HF_TOKEN takes/,
    );
  },
);

test('offline is said as Python reads it', async () => {
  const isOffline = async (env: Environment): Promise<boolean> => (await readHubSettings(env, home)).offline;
  for (const yes of ['1', 'on', 'True', 'YES']) assert.equal(await isOffline({ HF_HUB_OFFLINE: yes }), true, yes);
  for (const no of ['0', 'false', 'off']) assert.equal(await isOffline({ HF_HUB_OFFLINE: no }), false, no);
  assert.equal(await isOffline({ TRANSFORMERS_OFFLINE: '1' }), true);
});

test('what cannot be meant is refused by the name of its variable, without the secret in it', async (t) => {
  const secret = 'geheim';
  const hfHome = await folderWithToken(t, `${secret} two`);
  const wrong: readonly (readonly [Environment, RegExp])[] = [
    [{ HF_ENDPOINT: 'huggingface.co' }, /^HF_ENDPOINT must be an address that starts with http/],
    [{ HF_ENDPOINT: 'ftp://huggingface.co' }, /^HF_ENDPOINT must be/],
    [{ HF_ENDPOINT: `https://ada:${secret}@hub.example` }, /^HF_ENDPOINT must hold no user and password/],
    [{ HF_TOKEN: `${secret}\u2026` }, /^HF_TOKEN holds no token/],
    [{ HF_TOKEN: `${secret} two` }, /^HF_TOKEN holds no token/],
    [{ HF_HOME: hfHome }, /token holds no token/],
  ];
  for (const [env, message] of wrong) {
    await assert.rejects(readHubSettings(env, home), (error: Error & { code?: string }) => {
      assert.match(error.message, message);
      assert.ok(!error.message.includes(secret));
      return error.code === 'settings_invalid';
    });
  }
});
