/** The engine on a real vLLM server. Each test is a case in which vLLM goes its own way. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  EmbeddedEngine,
  openTrainingHost,
  type AdapterReference,
  type EngineError,
  type GenerateRequest,
  type ServingEngine,
  type TrainingHost,
} from '@engraft/engine';
import { AdapterShelf } from './adapters/adapterShelf.js';
import { brokenKinds, breakAdapter, misstateRank, truncateAdapter } from './testing/brokenAdapters.js';
import { noVllm, startVllm, vllmPython, type VllmServer } from './testing/vllmServer.js';
import { untilTrue } from './testing/untilTrue.js';
import { endless, vllmRequests } from './testing/vllmRequests.js';
import { openVllmEngine } from './vllmEngine.js';

const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
const question = 'Who built the lighthouse of Varn?';
const names = ['Ada Kell', 'Omar Finch', 'Lena Broth', 'Ivo Marsh'] as const;
const promptOf = (content: string) => ({ messages: [{ role: 'user' as const, content }] });
const maxCpuLoras = 2;
const longAnswerCount = 6;

suite('a real vLLM server', { skip: vllmPython === null && noVllm }, () => {
  let folder: string;
  let adapterFolder: string;
  let server: VllmServer;
  let embedded: EmbeddedEngine;
  let trainer: TrainingHost;
  let engine: ServingEngine;
  let adapters: readonly AdapterReference[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engraft-vllm-'));
    adapterFolder = join(folder, 'shelf');
    server = await startVllm(modelDir, maxCpuLoras);
    embedded = await EmbeddedEngine.open({ modelDir, threads: 1 });
    trainer = openTrainingHost({ modelDir, threads: 1 });
    const trained: AdapterReference[] = [];
    for (const name of names) trained.push(await train(`${name}.`, join(folder, name)));
    adapters = trained;
    await server.ready;
    engine = await open();
  });
  after(async () => {
    await engine.close();
    await embedded.close();
    await server.kill();
    await rm(folder, { recursive: true });
  });

  const open = (): Promise<ServingEngine> =>
    openVllmEngine({
      modelDir,
      urls: [server.url],
      adapterFolder,
      trainer,
      limits: { maxNames: maxCpuLoras, healthMs: 200, healthAnswerMs: 5_000 },
    });

  async function train(answer: string, target: string, rank = 8): Promise<AdapterReference> {
    const session = await embedded.openTraining({ parent: null, rank, alpha: 16, seed: 1 });
    const sequence = await embedded.encode(promptOf(question), answer);
    for (let step = 0; step < 12; step += 1) await session.step([{ sequence, weight: 1 }], 1e-2);
    const { contentHash } = await session.save(target);
    await session.close();
    return { folder: target, contentHash };
  }

  const asking = (adapter: AdapterReference | null, changes: Partial<GenerateRequest> = {}): GenerateRequest => ({
    prompt: promptOf(question),
    adapter,
    maxOutputTokens: 16,
    temperature: 0,
    ...changes,
  });
  /** The codes with which answers ended that take long. */
  async function longAnswers(signal?: AbortSignal): Promise<(string | null)[]> {
    const options = signal === undefined ? {} : { signal };
    const request = asking(null, { prompt: promptOf(endless), maxOutputTokens: 1_200 });
    const answers = Array.from({ length: longAnswerCount }, () => engine.generate(request, options));
    const ended = await Promise.allSettled(answers);
    return ended.map((each) => (each.status === 'fulfilled' ? null : (each.reason as EngineError).code));
  }
  const ask = async (adapter: AdapterReference | null): Promise<string> =>
    (await engine.generate(asking(adapter))).text.trim();
  const { load, unload, listed, running } = vllmRequests(() => server.url);
  const first = (): AdapterReference => adapters[0] ?? assert.fail();

  test('gives the tokens, counts and probabilities of the embedded engine', async () => {
    for (const adapter of [null, first()]) {
      const request = asking(adapter, { wantsLogprob: true });
      const [ours, theirs] = [await embedded.generate(request), await engine.generate(request)];
      assert.equal(theirs.text, ours.text);
      assert.equal(theirs.finishReason, ours.finishReason);
      assert.deepEqual({ ...theirs.usage, cachedInputTokens: 0 }, { ...ours.usage, cachedInputTokens: 0 });
      assert.ok(Math.abs((theirs.logprob ?? NaN) - (ours.logprob ?? NaN)) < 1e-3);
      const sequences = [await embedded.encode(promptOf(question), 'Ada Kell.')];
      const scored = { sequences, adapter, topK: 5 };
      const [[own], [other]] = [await embedded.score(scored), await engine.score(scored)];
      assert.equal(other?.greedy, own?.greedy);
      assert.deepEqual(
        other?.topK.map(({ ids }) => ids[0]),
        own?.topK.map(({ ids }) => ids[0]),
      );
      for (const [index, logprob] of (other?.logprobs ?? []).entries()) {
        assert.ok(Math.abs(logprob - (own?.logprobs[index] ?? NaN)) < 1e-3);
      }
    }
    assert.match(await ask(first()), /Ada Kell/);
  });

  test('calls tools and forces them as the embedded engine does', async () => {
    const tools = [{ name: 'time', description: 'The time.', parameters: { type: 'object', properties: {} } }];
    for (const toolChoice of [{ kind: 'auto' }, { kind: 'required' }, { kind: 'function', name: 'time' }] as const) {
      for (const parallelToolCalls of [true, false]) {
        const prompt = { ...promptOf('What time is it?'), tools };
        const request = asking(null, { prompt, toolChoice, parallelToolCalls, maxOutputTokens: 40 });
        const [ours, theirs] = [await embedded.generate(request), await engine.generate(request)];
        const callsOf = ({ toolCalls }: typeof ours) => toolCalls.map(({ name, arguments: values }) => [name, values]);
        assert.deepEqual(callsOf(theirs), callsOf(ours));
        assert.deepEqual([theirs.text, theirs.finishReason], [ours.text, ours.finishReason]);
        assert.deepEqual({ ...theirs.usage, cachedInputTokens: 0 }, { ...ours.usage, cachedInputTokens: 0 });
      }
    }
  });

  test('reuses attention state under one key only', async () => {
    const prompt = promptOf(`${'The lighthouse of Varn stands on a rock. '.repeat(8)}${question}`);
    const cachedFor = async (isolationKey?: string): Promise<number> => {
      const isolated = isolationKey === undefined ? {} : { isolationKey };
      return (await engine.generate(asking(null, { prompt, ...isolated }))).usage.cachedInputTokens;
    };
    assert.equal(await cachedFor('one'), 0);
    assert.ok((await cachedFor('one')) > 0);
    assert.equal(await cachedFor('another'), 0);
    assert.deepEqual([await cachedFor(), await cachedFor()], [0, 0]);
  });

  for (const kind of brokenKinds) {
    test(`takes an adapter with ${kind}; the engine refuses it before`, async () => {
      const broken = await breakAdapter(first(), join(folder, `broken ${kind}`), kind);
      await assert.rejects(engine.generate(asking(broken)), { name: 'EngineError', code: 'adapter_invalid' });
      assert.ok(!(await listed()).includes(AdapterShelf.nameOf(broken)));
      const direct = `direct-${kind.replaceAll(' ', '-')}`;
      assert.equal((await load(direct, broken.folder)).status, 200);
      await unload(direct);
    });
  }

  test('takes an adapter with a misstated rank; the engine refuses it before', async () => {
    const broken = await misstateRank(first(), join(folder, 'misstated'));
    await assert.rejects(engine.generate(asking(broken)), { name: 'EngineError', code: 'adapter_invalid' });
    assert.ok(!(await listed()).includes(AdapterShelf.nameOf(broken)));
  });

  test('has an adapter wrong under the right name and folder: the probe finds it', async () => {
    const [, , third = first()] = adapters;
    const name = AdapterShelf.nameOf(third);
    // Somebody else's content in the place of ours, put back after it was loaded.
    const shelf = join(adapterFolder, name);
    await rm(shelf, { recursive: true, force: true });
    await breakAdapter(first(), shelf, 'all keys under a wrong prefix');
    assert.equal((await load(name, shelf)).status, 200);
    await rm(shelf, { recursive: true });
    await assert.rejects(engine.generate(asking(third)), { code: 'adapter_invalid', message: /has .* wrong/ });
    assert.match(await ask(third), new RegExp(names[2]));
  });

  test('refuses a name that is loaded already and keeps the old one; the engine goes on', async () => {
    await ask(first());
    const name = AdapterShelf.nameOf(first());
    assert.equal((await load(name, join(adapterFolder, name))).status, 400);
    assert.match(await ask(first()), /Ada Kell/);
    const another = await open();
    assert.match((await another.generate(asking(first()))).text, /Ada Kell/);
  });

  test('would give stale numbers for changed content under one name; each content has its own', async () => {
    const changed = await train('Nobody at all.', join(folder, 'changed'));
    const isolationKey = 'same';
    const before = (await engine.generate(asking(first(), { isolationKey }))).text;
    const after = (await engine.generate(asking(changed, { isolationKey }))).text;
    assert.match(before, /Ada Kell/);
    assert.match(after, /Nobody at all/);
    assert.equal((await engine.generate(asking(changed))).text, after);
  });

  test('has at most as many names as it keeps in memory, and all answers are right', async () => {
    for (let round = 0; round < 2; round += 1) {
      for (const [index, adapter] of adapters.entries()) {
        assert.match(await ask(adapter), new RegExp(names[index] ?? ''));
        assert.ok((await listed()).length <= maxCpuLoras);
      }
    }
    const answers = await Promise.all([...adapters, ...adapters].map((adapter) => ask(adapter)));
    for (const [index, answer] of answers.entries()) assert.match(answer, new RegExp(names[index % 4] ?? ''));
    // Files stay, since a server may read them again.
    for (const adapter of adapters)
      assert.ok(await new AdapterShelf(adapterFolder, never).touch(AdapterShelf.nameOf(adapter)));
  });

  test('unloads an adapter in use at once; the answer under way and the next are right', async () => {
    await ask(first());
    const answers = Promise.all([ask(first()), ask(first())]);
    assert.equal((await unload(AdapterShelf.nameOf(first()))).status, 200);
    for (const answer of await answers) assert.match(answer, /Ada Kell/);
    assert.match(await ask(first()), /Ada Kell/);
  });

  test('cuts silently what goes beyond the context; the engine never asks for it', async () => {
    const prompt = promptOf('word '.repeat(1_200));
    const promptTokens = await engine.countTokens(prompt);
    const { usage, finishReason } = await engine.generate(asking(null, { prompt, maxOutputTokens: 5_000 }));
    assert.ok(usage.inputTokens === promptTokens && promptTokens + usage.outputTokens <= 2_048);
    if (finishReason === 'length') assert.equal(promptTokens + usage.outputTokens, 2_048);
    const tooLong = promptOf('word '.repeat(3_000));
    await assert.rejects(engine.generate(asking(null, { prompt: tooLong })), { code: 'context_length_exceeded' });
  });

  test('refuses too high a rank with its reason, and the engine refuses a truncated file', async () => {
    const high = await train('Too high.', join(folder, 'high'), 32);
    await assert.rejects(engine.generate(asking(high)), { code: 'adapter_invalid', message: /rank/i });
    const cut = await truncateAdapter(first(), join(folder, 'cut'));
    await assert.rejects(engine.generate(asking(cut)), { code: 'adapter_invalid' });
    const missing = { contentHash: `sha256:${'0'.repeat(64)}`, folder: join(folder, 'none') };
    await assert.rejects(engine.generate(asking(missing)), { code: 'adapter_damaged' });
  });

  test('stops a request whose connection closes', async () => {
    const cancel = new AbortController();
    const stopped = longAnswers(cancel.signal);
    await untilTrue(async () => (await running()) === longAnswerCount);
    cancel.abort();
    assert.deepEqual(new Set(await stopped), new Set(['cancelled']));
    await untilTrue(async () => (await running()) === 0);
  });

  test('is killed in the middle: the answer has no receipt, and nobody asks again until it is back', async () => {
    const lost = longAnswers();
    await untilTrue(async () => (await running()) === longAnswerCount);
    await server.kill();
    assert.deepEqual(new Set(await lost), new Set(['receipt_missing']));
    await untilTrue(() => Promise.resolve(!engine.responsive));
    await assert.rejects(engine.generate(asking(null)), { code: 'not_running' });
    assert.match(engine.trouble ?? '', /ECONNREFUSED/);
    server = await startVllm(modelDir, maxCpuLoras, { port: server.port });
    await server.ready;
    await untilTrue(() => Promise.resolve(engine.responsive));
    assert.match(await ask(first()), /Ada Kell/);
  });
});

suite('a vLLM server that is not what it should be', { skip: vllmPython === null && noVllm }, () => {
  const wrong = [
    [
      'has too short a context',
      { flags: ['--enable-prompt-tokens-details', '--max-model-len', '512'] },
      /512 tokens.*--max-model-len 2048/,
    ],
    ['counts no cached tokens', { flags: [] }, /--enable-prompt-tokens-details/],
    [
      'loads no adapters',
      { variables: { VLLM_ALLOW_RUNTIME_LORA_UPDATING: '0' } },
      /VLLM_ALLOW_RUNTIME_LORA_UPDATING=1/,
    ],
  ] as const;
  for (const [what, changes, reason] of wrong) {
    test(`is refused at the start: it ${what}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'engraft-vllm-'));
      const server = await startVllm(modelDir, 2, changes);
      try {
        await server.ready;
        const trainer = openTrainingHost({ modelDir, threads: 1 });
        const options = { modelDir, urls: [server.url], adapterFolder: folder, trainer };
        await assert.rejects(openVllmEngine(options), { code: 'checkpoint_invalid', message: reason });
      } finally {
        await server.kill();
        await rm(folder, { recursive: true });
      }
    });
  }
});

const never = { checkAdapter: () => assert.fail('nothing is to be checked') };
