// Generation against llama.cpp through node-llama-cpp: the same weights, prompts, output lengths and threads.
import { join } from 'node:path';
import { ChatTokenizer, EmbeddedEngine } from '../../packages/engine/dist/index.js';
import { measureInTurn } from '../lib/measure.mjs';
import { median, pairedRatio } from '../lib/statistics.mjs';
import { writeGguf } from './gguf.mjs';
import { readModel, shippedModel } from './models.mjs';
import { loadNodeLlamaCpp } from './peers.mjs';
import { generateTogether, prompts } from './requests.mjs';

const batches = [1, 8];
const contextTokens = 512;

/**
 * The engine's settings for each precision that llama.cpp is compared at, and how llama.cpp keeps keys and
 * values.
 */
const precisions = [
  { gguf: 'F32', options: {}, cache: 'F32' },
  { gguf: 'Q8_0', options: { weightFormat: 'q8' }, cache: 'F16' },
];

/**
 * @param {{ models: { name: string, folder: string }[], threadCounts: number[], rounds: number, outputTokens: number,
 * folder: string }} plan
 */
export async function measureDecoding({ models, threadCounts, rounds, outputTokens, folder }) {
  const { getLlama } = await loadNodeLlamaCpp();
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    logLevel: 'error',
    maxThreads: Math.max(...threadCounts),
  });
  await checkSameWork(llama, folder);
  const rows = [];
  for (const { gguf, options, cache } of precisions) {
    if (!(await isOffered(options))) continue;
    for (const model of models) {
      const peer = await openLlama(llama, { folder, modelDir: model.folder, precision: gguf });
      for (const threads of threadCounts) {
        const engine = await EmbeddedEngine.open({ modelDir: model.folder, threads, ...options });
        for (const batch of batches) {
          // Two of its threads can be slower than one, so the faster way is the peer.
          const contexts = new Map();
          for (const count of new Set([1, threads])) {
            contexts.set(count, await peer.open({ threads: count, batch, cache }));
          }
          const engraft = () => generateTogether(engine, { batch, outputTokens });
          const llamas = Array.from(contexts, ([count, context]) => [
            `${count} ${count === 1 ? 'thread' : 'threads'}`,
            () => context.generate(outputTokens),
          ]);
          const samples = await measureInTurn({ engraft, ...Object.fromEntries(llamas) }, rounds);
          for (const context of contexts.values()) await context.close();
          rows.push(rowOf({ model, threads, batch, gguf, tokens: batch * outputTokens, samples }));
        }
        await engine.close();
      }
      await peer.close();
    }
  }
  await llama.dispose();
  return rows;
}

function rowOf({ model, threads, batch, gguf, tokens, samples: { engraft, ...llamas } }) {
  const [[peerThreads, llama]] = Object.entries(llamas).sort(([, a], [, b]) => median(a.wall_s) - median(b.wall_s));
  const perSecond = ({ wall_s }) => wall_s.map((seconds) => tokens / seconds);
  return {
    figure: `Generation, batch ${batch}, ${gguf === 'F32' ? 'F32' : '8 bit'}`,
    model: model.name,
    threads,
    unit: 'tokens/s',
    value: median(perSecond(engraft)),
    peer: `node-llama-cpp, ${gguf}, ${peerThreads}`,
    peerValue: median(perSecond(llama)),
    ratio: pairedRatio(perSecond(engraft), perSecond(llama)),
    target: { atLeast: batch === 1 ? 1 : 2 },
  };
}

/** Whether the engine knows the options: one that does refuses a value that cannot be, one that does not ignores it. */
async function isOffered(options) {
  for (const name of Object.keys(options)) {
    const impossible = { modelDir: shippedModel, threads: 1, [name]: 'impossible' };
    const engine = await EmbeddedEngine.open(impossible).catch(() => undefined);
    if (engine === undefined) continue;
    await engine.close();
    return false;
  }
  return true;
}

/** Both sides must write the same greedy answers with the shipped weights, to their end of turn. */
async function checkSameWork(llama, folder) {
  const tokenizer = await ChatTokenizer.load(shippedModel);
  const engine = await EmbeddedEngine.open({ modelDir: shippedModel, threads: 1 });
  const peer = await openLlama(llama, { folder, modelDir: shippedModel, precision: 'F32' });
  const context = await peer.open({ threads: 1, batch: prompts.length, cache: 'F32' });
  const theirs = await context.answer(48);
  for (const [index, prompt] of prompts.entries()) {
    const request = { prompt: promptOf(prompt), adapter: null, maxOutputTokens: 48, temperature: 0 };
    const { text } = await engine.generate(request);
    if (text !== tokenizer.decode(theirs[index])) {
      const both = `${JSON.stringify(text)} and ${JSON.stringify(tokenizer.decode(theirs[index]))}`;
      throw new Error(`the peers compute different things: to ${JSON.stringify(prompt)} they answer ${both}`);
    }
  }
  await context.close();
  await peer.close();
  await engine.close();
}

function promptOf(content) {
  return { messages: [{ role: 'user', content }] };
}

async function openLlama(llama, { folder, modelDir, precision }) {
  const { config, weights } = await readModel(modelDir);
  const tokenizer = await ChatTokenizer.load(modelDir);
  const file = join(folder, `peer-${precision}.gguf`);
  await writeGguf(file, { config, weights, precision, endToken: tokenizer.endOfTurn });
  const model = await llama.loadModel({ modelPath: file, useMmap: false });
  return {
    open: async ({ threads, batch, cache }) => {
      const context = await model.createContext({
        sequences: batch,
        contextSize: contextTokens,
        threads,
        experimentalKvCacheKeyType: cache,
        experimentalKvCacheValueType: cache,
      });
      const sequences = Array.from({ length: batch }, () => context.getSequence());
      const encoded = sequences.map((_, index) => tokenizer.encodePrompt(promptOf(prompts[index % prompts.length])));
      const all = (limit, options) =>
        Promise.all(sequences.map((sequence, index) => evaluate(sequence, encoded[index], { limit, ...options })));
      return {
        /** Greedy tokens for each prompt, up to the end token. */
        answer: (limit) => all(limit, { yieldEogToken: false }),
        generate: async (limit) => {
          const outputs = await all(limit, { yieldEogToken: true });
          if (outputs.some(({ length }) => length !== limit)) throw new Error('llama.cpp stopped early');
        },
        close: () => context.dispose(),
      };
    },
    close: () => model.dispose(),
  };
}

async function evaluate(sequence, prompt, { limit, yieldEogToken }) {
  await sequence.clearHistory();
  const output = [];
  for await (const token of sequence.evaluate(prompt, { temperature: 0, yieldEogToken })) {
    output.push(token);
    if (output.length >= limit) break;
  }
  return output;
}
