// What adapters cost in serving: different ones in one batch, more of them than fit the cache, and a cold one.
import { join } from 'node:path';
import { writeAdapter } from '../../packages/engine/dist/adapters/adapterFolder.js';
import { EmbeddedEngine } from '../../packages/engine/dist/index.js';
import { joinedSize } from '../../packages/engine/dist/adapters/joinedMatrices.js';
import { loraGroups } from '../../packages/engine/dist/model/loraGroups.js';
import { loraTensorSpecs } from '../../packages/engine/dist/model/weights.js';
import { createRandom } from '../../packages/engine/dist/support/random.js';
import { measureInTurn } from '../lib/measure.mjs';
import { median, pairedRatio, quantile, shuffled } from '../lib/statistics.mjs';
import { readModel } from './models.mjs';
import { generateTogether, requestOf } from './requests.mjs';

const batchSize = 8;
const loraRank = 8;
const coldBytes = 5e6;

/** A batch of eight with no adapter, one for all, and eight different ones. */
export async function measureMixedBatches({ models, threadCounts, rounds, outputTokens, folder }) {
  const rows = [];
  for (const model of models) {
    const { config } = await readModel(model.folder);
    const adapters = await writeAdapters(join(folder, `mixed-${model.width}`), config, {
      count: batchSize,
      rank: loraRank,
    });
    for (const threads of threadCounts) {
      const engine = await EmbeddedEngine.open({ modelDir: model.folder, threads });
      const generate = (chosen) => () => generateTogether(engine, { batch: batchSize, outputTokens, adapters: chosen });
      const samples = await measureInTurn(
        { base: generate([]), one: generate(adapters.map(() => adapters[0])), eight: generate(adapters) },
        rounds,
      );
      await engine.close();
      const perSecond = ({ wall_s }) => wall_s.map((seconds) => (batchSize * outputTokens) / seconds);
      const row = (figure, measured, target) => ({
        figure,
        model: model.name,
        threads,
        unit: 'tokens/s',
        value: median(perSecond(measured)),
        peer: 'base alone, same batch',
        peerValue: median(perSecond(samples.base)),
        ratio: pairedRatio(perSecond(measured), perSecond(samples.base)),
        target,
      });
      rows.push(row('One adapter in all of 8 rows', samples.one, { atLeast: 0.9 }));
      rows.push(row('8 different adapters in 8 rows', samples.eight, { atLeast: 0.85 }));
    }
  }
  return rows;
}

/** Each of `count` adapters once, in random order and eight at a time, with room for all or for a quarter of them. */
export async function measureAdapterCache({ model, threads, count, outputTokens, folder }) {
  const { config } = await readModel(model.folder);
  const adapters = await writeAdapters(join(folder, 'cache'), config, { count, rank: loraRank });
  const bytes = readyBytes(config, loraRank);
  // There is also room for what a batch copies.
  const open = (room) =>
    EmbeddedEngine.open({ modelDir: model.folder, threads, maxAdapterBytes: (room + batchSize) * bytes });
  const room = Math.ceil(count / 4);
  const engines = { all: await open(count), quarter: await open(room) };
  const random = createRandom(1);
  const serve = async (engine, order) => {
    for (let start = 0; start < order.length; start += batchSize) {
      const chosen = order.slice(start, start + batchSize);
      await generateTogether(engine, { batch: chosen.length, outputTokens, adapters: chosen });
    }
  };
  for (const engine of Object.values(engines)) await serve(engine, adapters);
  const rates = { all: [], quarter: [] };
  // Both get every part of the order right after each other.
  const order = shuffled(adapters, () => random.next());
  const part = Math.ceil(order.length / 8);
  for (let start = 0; start < order.length; start += part) {
    const chosen = order.slice(start, start + part);
    for (const [name, engine] of Object.entries(engines)) {
      const before = performance.now();
      await serve(engine, chosen);
      rates[name].push((1e3 * chosen.length) / (performance.now() - before));
    }
  }
  for (const engine of Object.values(engines)) await engine.close();
  return [
    {
      figure: `${count} adapters in random order, cache for ${room}`,
      model: model.name,
      threads,
      unit: `requests/s of ${outputTokens} tokens`,
      value: median(rates.quarter),
      peer: 'all of them cached',
      peerValue: median(rates.all),
      ratio: pairedRatio(rates.quarter, rates.all),
      target: { atLeast: 0.8 },
    },
  ];
}

/**
 * The first answer of an adapter that is not in memory, against its second; the files are in the system's page cache.
 */
export async function measureColdAdapter({ model, threads, rounds, folder }) {
  const { config } = await readModel(model.folder);
  const rank = Math.ceil(coldBytes / adapterBytes(config, 1));
  const adapters = await writeAdapters(join(folder, 'cold'), config, { count: 2, rank });
  const engine = await EmbeddedEngine.open({ modelDir: model.folder, threads, maxAdapterBytes: 1 });
  const times = { cold: [], warm: [] };
  for (let round = -1; round < rounds; round += 1) {
    // There is room for one only, so each is cold after the other.
    for (const adapter of adapters) {
      for (const name of ['cold', 'warm']) {
        const before = performance.now();
        await engine.generate(requestOf(0, { outputTokens: 1, adapter }));
        if (round >= 0) times[name].push(performance.now() - before);
      }
    }
  }
  await engine.close();
  const added = times.cold.map((cold, index) => cold - times.warm[index]);
  return [
    {
      figure: `What a cold adapter of ${(adapterBytes(config, rank) / 1e6).toFixed(1)} MB adds`,
      model: model.name,
      threads,
      unit: 'ms',
      value: median(added),
      p95: quantile(added, 0.95),
      peer: 'the whole answer of one token, adapter in memory',
      peerValue: median(times.warm),
      ratio: null,
      target: { below: 30 },
    },
  ];
}

export async function writeAdapters(folder, config, { count, rank }) {
  const random = createRandom(rank);
  const adapters = [];
  for (let index = 0; index < count; index += 1) {
    const matrices = new Map(
      loraTensorSpecs(config, rank).map(({ name, shape }) => {
        const data = Float32Array.from({ length: shape[0] * shape[1] }, () => (random.next() - 0.5) * 0.01);
        return [name, { shape, data }];
      }),
    );
    const target = join(folder, String(index));
    const { contentHash } = await writeAdapter(target, { rank, alpha: 2 * rank, matrices }, null);
    adapters.push({ folder: target, contentHash });
  }
  return adapters;
}

/** Size of the file without its header. */
function adapterBytes(config, rank) {
  return loraTensorSpecs(config, rank).reduce((sum, { shape: [height, width] }) => sum + 4 * height * width, 0);
}

/** Size in memory, in the form that generation takes. */
function readyBytes(config, rank) {
  const sizes = loraGroups(config).map((group) =>
    joinedSize(
      group,
      group.parts.map(() => rank),
    ),
  );
  return sizes.reduce((sum, size) => sum + 4 * size, 0);
}
