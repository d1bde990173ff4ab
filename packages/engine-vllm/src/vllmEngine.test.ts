/** Faults that no real server shows when asked to. The server is a fault injector, see `testing/faultyVllm.ts`. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { AdapterReference, EmbeddedEngine, ServingEngine } from '@engraft/engine';
import { AdapterShelf } from './adapters/adapterShelf.js';
import { brokenKinds, breakAdapter } from './testing/brokenAdapters.js';
import { asking, question, startFaultyServers, type FaultyServers } from './testing/faultyServers.js';
import { startFaultyVllm, type FaultyVllm } from './testing/faultyVllm.js';
import { untilTrue } from './testing/untilTrue.js';
import { choice, usage, wrongReceipts } from './testing/wrongReceipts.js';

const completions = '/v1/completions';

suite('an engine over vLLM servers', () => {
  let bench: FaultyServers;
  let folder: string;
  let adapterFolder: string;
  let embedded: EmbeddedEngine;
  let servers: FaultyServers['servers'];
  let engine: ServingEngine;
  let adapters: readonly [AdapterReference, AdapterReference, AdapterReference];

  before(async () => {
    bench = await startFaultyServers();
    ({ folder, adapterFolder, embedded, servers } = bench);
    adapters = [await bench.train('Ada.'), await bench.train('Omar.'), await bench.train('Lena.')];
    engine = await open();
  });
  afterEach(() => bench.reset());
  after(async () => {
    await engine.close();
    await bench.close();
  });

  const open = (urls?: readonly string[]): Promise<ServingEngine> => bench.open(urls);
  const seen = (path: string) => servers.flatMap(({ requests }) => requests.filter((each) => each.path === path));
  const onBoth = (fault: FaultyVllm['fault']): void => bench.onBoth(fault);
  const distortBoth = (distort: FaultyVllm['distort']): void => {
    for (const server of servers) server.distort = distort;
  };
  const untilResponsive = async (): Promise<void> => {
    await untilTrue(() => Promise.resolve(engine.responsive));
  };

  test('answers and scores as the embedded engine does', async () => {
    for (const adapter of [null, ...adapters]) {
      const request = asking(adapter);
      assert.deepEqual(await engine.generate(request), await embedded.generate(request));
      const sequences = [await embedded.encode(question, 'Ada.'), await embedded.encode(question, 'Who?')];
      const scored = { sequences, adapter, topK: 3 };
      assert.deepEqual(await engine.score(scored), await embedded.score(scored));
    }
  });

  test('sends token ids, a salt for each key, and whatever a server would choose by itself', async () => {
    // Either server may be asked.
    const sentWith = async (isolationKey: string): Promise<Readonly<Record<string, unknown>>> => {
      for (const server of servers) server.requests.length = 0;
      await engine.generate(asking(null, { isolationKey }));
      return seen(completions)[0]?.body ?? {};
    };
    const [first, second, third] = [await sentWith('one'), await sentWith('one'), await sentWith('two')];
    assert.equal(first['cache_salt'], second['cache_salt']);
    assert.notEqual(first['cache_salt'], third['cache_salt']);
    assert.ok(Array.isArray(first['prompt']) && first['prompt'].every(Number.isInteger));
    assert.ok(!JSON.stringify(first).includes('lighthouse'));
    const { ignore_eos, top_p, top_k, stream, return_token_ids } = first;
    assert.deepEqual([ignore_eos, top_p, top_k, stream, return_token_ids], [true, 1, 0, false, true]);
  });

  test('gives an adapter one server, under the name and in the folder of its content hash', async () => {
    for (const server of servers) server.loaded.clear();
    const [adapter] = adapters;
    for (let time = 0; time < 3; time += 1) await engine.generate(asking(adapter));
    assert.equal(servers.filter(({ loaded }) => loaded.size > 0).length, 1);
    const name = AdapterShelf.nameOf(adapter);
    for (const { body } of seen('/v1/load_lora_adapter')) {
      assert.deepEqual(body, { lora_name: name, lora_path: join(adapterFolder, name) });
    }
  });

  test('keeps within the names of a server', async () => {
    const alone = await open([servers[0].url]);
    const answers = await Promise.all([...adapters, ...adapters].map((adapter) => alone.generate(asking(adapter))));
    for (const [index, { text }] of answers.entries()) {
      assert.equal(text, (await embedded.generate(asking(adapters[index % 3] ?? null))).text);
    }
    assert.ok(servers[0].loaded.size <= 2);
    await alone.close();
  });

  for (const kind of brokenKinds) {
    test(`refuses an adapter with ${kind} before a server hears of it`, async () => {
      const broken = await breakAdapter(adapters[0], join(folder, kind), kind);
      await assert.rejects(engine.generate(asking(broken)), { code: 'adapter_invalid' });
      assert.deepEqual(seen('/v1/load_lora_adapter'), []);
    });
  }

  test('refuses a server that has an adapter wrong, and unloads it there', async () => {
    const [, adapter, other] = adapters;
    for (const server of servers) {
      server.loaded.clear();
      server.fault = (_, { path, body }) => {
        if (path === '/v1/load_lora_adapter') return false;
        // It has the weights of another adapter under this name.
        const name = AdapterShelf.nameOf(adapter);
        if (body['model'] === name) server.loaded.set(name, other.folder);
        return false;
      };
    }
    const fresh = await open();
    await assert.rejects(fresh.generate(asking(adapter)), { code: 'adapter_invalid', message: /has .* wrong/ });
    assert.ok(servers.every(({ loaded }) => !loaded.has(AdapterShelf.nameOf(adapter))));
    await fresh.close();
  });

  for (const [what, code, distort] of wrongReceipts) {
    test(`believes no answer with ${what}, and asks nobody again`, async () => {
      distortBoth(distort);
      await assert.rejects(engine.generate(asking(null)), { name: 'EngineError', code });
      assert.equal(seen(completions).length, 1);
    });
  }

  const unknown: readonly (readonly [string, FaultyVllm['fault']])[] = [
    ['breaks before its answer', (response) => Boolean(response.destroy())],
    [
      'breaks in the middle of its answer',
      (response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{"choices": [');
        setTimeout(() => response.destroy(), 20);
        return true;
      },
    ],
    ['answers with status 500', (response) => Boolean(response.writeHead(500).end('{}'))],
  ];
  for (const [what, fault] of unknown) {
    test(`asks nobody again when a server ${what}`, async () => {
      onBoth((response, request) => request.path === completions && fault(response, request));
      await assert.rejects(engine.generate(asking(null)), { code: 'receipt_missing' });
      assert.equal(seen(completions).length, 1);
      await untilResponsive();
    });
  }

  test('asks another server when one has no room, and nobody may when none has', async () => {
    const full: FaultyVllm['fault'] = (response, { path }) =>
      path === completions && Boolean(response.writeHead(503).end());
    servers[0].fault = full;
    const expected = await embedded.generate(asking(null));
    for (let time = 0; time < 4; time += 1) assert.deepEqual(await engine.generate(asking(null)), expected);
    servers[1].fault = full;
    await assert.rejects(engine.generate(asking(null)), { code: 'not_running' });
  });

  test('loads an adapter again that another process has unloaded', async () => {
    await untilResponsive();
    const [adapter] = adapters;
    await engine.generate(asking(adapter));
    for (const server of servers) server.loaded.clear();
    assert.equal((await engine.generate(asking(adapter))).text, (await embedded.generate(asking(adapter))).text);
  });

  test('closes the connection of a call that is cancelled', async () => {
    await untilResponsive();
    const cancel = new AbortController();
    const before = servers.map(({ closed }) => closed());
    onBoth((_, { path }) => {
      if (path === completions) cancel.abort();
      return path === completions;
    });
    await assert.rejects(engine.generate(asking(null), { signal: cancel.signal }), { code: 'cancelled' });
    await untilTrue(() => Promise.resolve(servers.some(({ closed }, index) => closed() !== before[index])));
  });

  test('is not responsive while no server answers, and is again afterwards', async () => {
    onBoth((response, { path }) => path === '/health' && Boolean(response.writeHead(500).end()));
    await untilTrue(() => Promise.resolve(!engine.responsive));
    assert.match(engine.trouble ?? '', /no vLLM server is ready .*its health is 500/);
    await assert.rejects(engine.generate(asking(null)), { code: 'not_running' });
    onBoth(() => false);
    await untilResponsive();
    assert.equal(engine.trouble, null);
  });

  const wrong: readonly (readonly [string, FaultyVllm['fault'], FaultyVllm['distort'], RegExp])[] = [
    [
      'no vLLM',
      (response, { path }) => path === '/v1/models' && Boolean(response.end('{}')),
      (each) => each,
      /no vLLM server/,
    ],
    [
      'without runtime loading',
      (response, { path }) =>
        path === '/v1/load_lora_adapter' && Boolean(response.writeHead(404).end('{"detail": "Not Found"}')),
      (each) => each,
      /VLLM_ALLOW_RUNTIME_LORA_UPDATING=1/,
    ],
    [
      'without adapters',
      (response, { path }) =>
        path === '/v1/load_lora_adapter' &&
        Boolean(response.writeHead(500).end('{"error": {"message": "LoRA is not enabled."}}')),
      (each) => each,
      /--enable-lora \(LoRA is not enabled\.\)/,
    ],
    [
      'another model',
      () => false,
      (answer) =>
        choice({
          prompt_logprobs: (answer.choices[0]['prompt_logprobs'] as unknown[]).map((place) =>
            place === null
              ? null
              : Object.fromEntries(Object.keys(place as object).map((id) => [id, { logprob: -2, rank: 1 }])),
          ),
        })(answer),
      /is not that of ENGRAFT_MODEL_DIR/,
    ],
    [
      'without counts of cached tokens',
      () => false,
      usage({ prompt_tokens_details: null }),
      /--enable-prompt-tokens-details/,
    ],
  ];
  for (const [what, fault, distort, message] of wrong) {
    test(`does not start on a server that is ${what}`, async () => {
      onBoth(fault);
      distortBoth(distort);
      await assert.rejects(open(), { code: 'checkpoint_invalid', message });
    });
  }

  test('does not start on a server with a shorter context than the model', async () => {
    const short = await startFaultyVllm(embedded, 512);
    await assert.rejects(open([short.url]), {
      code: 'checkpoint_invalid',
      message: /512 tokens.*--max-model-len 2048/,
    });
    await short.stop();
  });
});
