/** Servers that refuse for a moment. They are fault injectors, see `testing/faultyVllm.ts`. */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import type { AdapterReference, GenerateResult } from '@engraft/engine';
import { asking, startFaultyServers, type FaultyServers } from '../testing/faultyServers.js';
import type { SeenRequest } from '../testing/faultyVllm.js';
import { untilTrue } from '../testing/untilTrue.js';

type Kind = (request: SeenRequest) => boolean;

const isList: Kind = ({ path }) => path === '/v1/models';
const isLoad: Kind = ({ path }) => path === '/v1/load_lora_adapter';
/** Finds out whether the server loads adapters at all. */
const isTrial: Kind = (request) => isLoad(request) && request.body['lora_name'] === 'engraft-none';
const isScore: Kind = ({ path, body }) => path === '/v1/completions' && body['prompt_logprobs'] !== undefined;
const isScoreOfBase: Kind = (request) => isScore(request) && request.body['model'] === 'served';

const passing = [408, 429, 502, 503, 504];

suite('a vLLM server that refuses for a moment', () => {
  let bench: FaultyServers;
  let adapter: AdapterReference;
  let expected: GenerateResult;

  before(async () => {
    bench = await startFaultyServers();
    adapter = await bench.train('Ada.');
    expected = await bench.embedded.generate(asking(adapter));
  });
  afterEach(() => bench.reset());
  after(() => bench.close());

  const refuse = (status: number, isMeant: Kind, times = Infinity): void => {
    let left = times;
    bench.onBoth((response, request) => {
      if (!isMeant(request) || left === 0) return false;
      left -= 1;
      return Boolean(response.writeHead(status).end('{"error": {"message": "Not now."}}'));
    });
  };
  const unload = (): void => {
    for (const { loaded } of bench.servers) loaded.clear();
  };

  const ofAdapters: readonly (readonly [string, Kind, readonly number[]])[] = [
    ['to give numbers with an adapter', (each) => isScore(each) && !isScoreOfBase(each), [404, 500, ...passing]],
    ['to load an adapter', (each) => isLoad(each) && !isTrial(each), passing],
  ];
  for (const [what, isMeant, statuses] of ofAdapters) {
    test(`${what} is asked again later, and another one meanwhile`, async () => {
      for (const status of statuses) {
        const engine = await bench.open();
        unload();
        refuse(status, isMeant, 1);
        assert.deepEqual(await engine.generate(asking(adapter)), expected);
        unload();
        refuse(status, isMeant);
        const message = new RegExp(`status ${status}`);
        await assert.rejects(engine.generate(asking(adapter)), { code: 'not_running', message });
        bench.reset();
        await untilTrue(() => Promise.resolve(engine.responsive));
        assert.deepEqual(await engine.generate(asking(adapter)), expected);
        await engine.close();
      }
    });
  }

  test('five times in a row to give numbers with an adapter, and not with base, has it refused', async () => {
    const engine = await bench.open([bench.servers[0].url]);
    refuse(500, (each) => isScore(each) && !isScoreOfBase(each));
    for (let time = 1; time < 5; time += 1) {
      await assert.rejects(engine.generate(asking(adapter)), { code: 'not_running' });
      await untilTrue(() => Promise.resolve(engine.responsive));
    }
    const message = /gives no losses of sha256-.*status 500: Not now\./;
    await assert.rejects(engine.generate(asking(adapter)), { code: 'adapter_invalid', message });
    await engine.close();
  });

  const ofBase: readonly (readonly [string, Kind, readonly number[]])[] = [
    ['to list its models', isList, [500, ...passing]],
    ['to try to load an adapter', isTrial, passing],
    ['to give numbers', isScoreOfBase, [500, ...passing]],
  ];
  for (const [what, isMeant, statuses] of ofBase) {
    test(`${what} at the start is waited for`, async () => {
      for (const status of statuses) {
        refuse(status, isMeant);
        const engine = await bench.open();
        assert.match(engine.trouble ?? '', new RegExp(`status ${status}`));
        bench.reset();
        await untilTrue(() => Promise.resolve(engine.responsive));
        await engine.close();
      }
    });
  }
});
