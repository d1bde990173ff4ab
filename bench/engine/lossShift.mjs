// What the formats of the served weights cost in quality: the loss of answers that the shipped model was trained to
// give.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openCheckpoint } from '../../packages/engine/dist/checkpoint/checkpoint.js';
import { ModelRunner } from '../../packages/engine/dist/inference/modelRunner.js';
import { KvCache, noContents } from '../../packages/engine/dist/cache/kvCache.js';
import { SharedWeights } from '../../packages/engine/dist/model/sharedWeights.js';
import { loadQuantizedWeights } from '../../packages/engine/dist/model/quantizedWeights.js';
import { shippedModel } from './models.mjs';

const allFormats = { q8: '8 bits', q4: '4 bits' };

/** @param {{ rowCount: number, threads: number }} plan */
export async function measureLossShift({ rowCount, threads }) {
  const checkpoint = await openCheckpoint(shippedModel);
  const sequences = await answers(checkpoint.tokenizer, rowCount);
  const exact = await meanLoss(checkpoint, 'f32', sequences, threads);
  const rows = [];
  for (const [format, name] of Object.entries(allFormats)) {
    const { nats } = await meanLoss(checkpoint, format, sequences, threads);
    rows.push({
      figure: `What ${name} add to the loss of ${exact.tokens} answer tokens`,
      model: 'shipped, width 256',
      threads,
      unit: 'nats a token',
      value: nats - exact.nats,
      peer: 'the loss with F32',
      peerValue: exact.nats,
      ratio: null,
      target: null,
    });
  }
  return rows;
}

/** The last answers of rows that stand beside the weights, spread over all of them. */
async function answers(tokenizer, rowCount) {
  const lines = (await readFile(join(shippedModel, 'replay.jsonl'), 'utf8')).trim().split('\n');
  const chosen = lines.filter((_, index) => index % Math.ceil(lines.length / rowCount) === 0);
  return chosen.map((line) => {
    const { messages, tools } = JSON.parse(line);
    const prompt = { messages: messages.slice(0, -1), ...(tools === undefined ? {} : { tools }) };
    return tokenizer.encodeExample(prompt, messages.at(-1).content, { markup: true });
  });
}

/** Computed by the graphs that generate, one token after the other, as answers are written. */
async function meanLoss({ config, weights, description }, format, sequences, threads) {
  const model = { config, weights: await SharedWeights.open(config, weights), threads };
  const source = { config, reader: weights, contentHash: description.contentHash };
  const quantized = format === 'f32' ? {} : { quantized: await loadQuantizedWeights(source, format, undefined) };
  const runner = new ModelRunner({ ...model, ...quantized });
  let nats = 0;
  let tokens = 0;
  try {
    for (const sequence of sequences) {
      const cache = new KvCache(config);
      cache.reserve(sequence.tokens.length, 1, noContents);
      const prompt = sequence.tokens.slice(0, sequence.targetStart);
      let logits = await runner.append(cache, prompt, 0, null);
      for (let place = sequence.targetStart; place < sequence.tokens.length; place += 1) {
        const token = sequence.tokens[place];
        nats -= logProbability(logits, token);
        tokens += 1;
        [logits] = await runner.decode(cache, [{ token, cachedTokens: place, adapter: null }]);
      }
    }
  } finally {
    await runner.close();
  }
  return { nats: nats / tokens, tokens };
}

function logProbability(logits, token) {
  const greatest = logits.reduce((most, value) => Math.max(most, value), -Infinity);
  return logits[token] - greatest - Math.log(logits.reduce((sum, value) => sum + Math.exp(value - greatest), 0));
}
