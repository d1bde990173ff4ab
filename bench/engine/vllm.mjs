// Answers and reading beside a real vLLM for processors: the same weights, adapter, tokens, lengths and threads.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChatTokenizer, EmbeddedEngine } from '../../packages/engine/dist/index.js';
import { findVllmPython } from '../../scripts/lib/vllmPython.mjs';
import { measureInTurn } from '../lib/measure.mjs';
import { median, pairedRatio } from '../lib/statistics.mjs';
import { writeAdapters } from './adapters.mjs';
import { givenModelThatNeverEnds, readModel } from './models.mjs';
import { generateTogether, requestOf } from './requests.mjs';

/** The precisions that it may keep weights in, of which the fastest is the peer. */
const precisions = ['float32', 'bfloat16'];
const outputTokens = 64;
const readTokens = 800;
/** How many greedy tokens must be the same. Rounding may part them later. */
const comparedTokens = 12;
const loraRank = 8;

const cases = [
  { figure: 'Answers one at a time, with an adapter', batch: 1, adapted: true },
  { figure: 'Answers eight at a time, with an adapter', batch: 8, adapted: true },
  { figure: 'Answers eight at a time, without', batch: 8, adapted: false },
  { figure: `Reading ${readTokens} tokens, with an adapter`, batch: 1, adapted: true, reads: true },
];

/**
 * @param {{ modelDir: string, threads: number, rounds: number, weights: 'f32' | 'q8' | 'q4' }} plan `weights` is the
 *   format of ours
 */
export async function measureBesideVllm({ modelDir, threads, rounds, weights }) {
  process.env.ENGRAFT_TEST_VLLM_PYTHON = findVllmPython();
  const { startVllm } = await import('../../packages/engine-vllm/dist/testing/vllmServer.js');
  const folder = await mkdtemp(join(tmpdir(), 'engraft-bench-'));
  const model = await givenModelThatNeverEnds(modelDir, join(folder, 'model'));
  const { config } = await readModel(model.folder);
  const [adapter] = await writeAdapters(join(folder, 'adapters'), config, { count: 1, rank: loraRank });
  const tokenizer = await ChatTokenizer.load(model.folder);
  const engine = await EmbeddedEngine.open({ modelDir: model.folder, threads, weightFormat: weights });
  const ways = [];
  try {
    for (const precision of precisions) {
      const server = await startVllm(model.folder, 4, {
        // The last of a flag counts.
        flags: ['--dtype', precision],
        variables: { OMP_NUM_THREADS: String(threads) },
      });
      try {
        await server.ready;
        const peer = await openPeer(server.url, adapter, tokenizer);
        // Rounded weights may well say something else.
        if (precision === 'float32' && weights === 'f32') await requireSameAnswers(engine, peer, adapter, tokenizer);
        for (const each of cases) ways.push(await measure(each, { engine, peer, adapter, precision, rounds }));
      } finally {
        await server.kill();
      }
    }
  } finally {
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  }
  return { ways, rows: cases.map(({ figure }) => rowOf(figure, ways, { model, threads })) };
}

async function measure({ figure, batch, adapted, reads }, { engine, peer, adapter, precision, rounds }) {
  // Nothing of a text may be read already, by either side.
  const turn = { engraft: 0, vllm: 0 };
  const next = (name) => `${precision} ${figure} ${(turn[name] += 1)}`;
  const ours = reads
    ? () => read(engine, longText(next('engraft')), adapter)
    : () => generateTogether(engine, { batch, outputTokens, adapters: adapted ? Array(batch).fill(adapter) : [] });
  const theirs = reads
    ? () => peer.generate([promptOf(longText(next('vllm')))], { adapted, limit: 1 })
    : () => {
        const requests = Array.from({ length: batch }, (_, index) => requestOf(index, { outputTokens }).prompt);
        return peer.generate(requests, { adapted, limit: outputTokens });
      };
  const samples = await measureInTurn({ engraft: ours, vllm: theirs }, rounds);
  return { figure, precision, tokens: reads ? readTokens : batch * outputTokens, samples };
}

function rowOf(figure, ways, { model, threads }) {
  const perSecond = ({ tokens, samples }, name) => samples[name].wall_s.map((seconds) => tokens / seconds);
  const [best] = ways
    .filter((way) => way.figure === figure)
    .sort((a, b) => median(a.samples.vllm.wall_s) - median(b.samples.vllm.wall_s));
  return {
    figure,
    model: model.name,
    threads,
    unit: 'tokens/s',
    value: median(perSecond(best, 'engraft')),
    peer: `vLLM 0.32.0, ${best.precision}`,
    peerValue: median(perSecond(best, 'vllm')),
    ratio: pairedRatio(perSecond(best, 'engraft'), perSecond(best, 'vllm')),
    target: { atLeast: 2 },
  };
}

const promptOf = (content) => ({ messages: [{ role: 'user', content }] });

/** A text of about as many tokens as are to be read, with a beginning of its own. */
function longText(name) {
  const words = Array.from({ length: readTokens }, (_, index) => (index % 2 === 0 ? 'the' : 'of'));
  return `${name}. ${words.join(' ')}`;
}

async function read(engine, text, adapter) {
  const { usage } = await engine.generate({ prompt: promptOf(text), adapter, maxOutputTokens: 1, temperature: 0 });
  if (Math.abs(usage.inputTokens - readTokens) > 0.1 * readTokens || usage.cachedInputTokens > readTokens / 10)
    throw new Error(`${usage.inputTokens} tokens were read, ${usage.cachedInputTokens} of them before`);
}

async function openPeer(url, { folder, contentHash }, tokenizer) {
  const post = async (path, body) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`vLLM answered ${response.status}: ${await response.text()}`);
    return response;
  };
  await post('/v1/load_lora_adapter', { lora_name: contentHash, lora_path: folder });
  const one = async (prompt, { adapted, limit }) => {
    const response = await post('/v1/completions', {
      model: adapted ? contentHash : 'served',
      prompt: [...tokenizer.encodePrompt(prompt)],
      max_tokens: limit,
      temperature: 0,
      ignore_eos: true,
      return_token_ids: true,
    });
    const [{ token_ids: tokens }] = (await response.json()).choices;
    if (tokens.length !== limit) throw new Error(`vLLM wrote ${tokens.length} tokens of ${limit}`);
    return tokens;
  };
  return { generate: (requests, plan) => Promise.all(requests.map((request) => one(request, plan))) };
}

async function requireSameAnswers(engine, peer, adapter, tokenizer) {
  for (const used of [null, adapter]) {
    const { prompt } = requestOf(0, { outputTokens });
    const { text } = await engine.generate({ prompt, adapter: used, maxOutputTokens: comparedTokens, temperature: 0 });
    const [theirs] = await peer.generate([prompt], { adapted: used !== null, limit: comparedTokens });
    const other = tokenizer.decode(theirs);
    if (text.trim() !== other.trim())
      throw new Error(`the peers compute different things: ${JSON.stringify(text)} and ${JSON.stringify(other)}`);
  }
}
