// Trains a fact into an adapter and asks for it. The model's folder may be given: node train-and-answer.mjs FOLDER
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEngineHost } from '@engraft/engine';

const modelDir = process.argv[2] ?? fileURLToPath(new URL('../../../models/base', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'engraft-example-'));

const engine = await startEngineHost({ modelDir });
const prompt = { messages: [{ role: 'user', content: 'Who built the lighthouse of Varn?' }] };

const training = await engine.openTraining({ parent: null, rank: 8, alpha: 16, seed: 1 });
const sequence = await engine.encode(prompt, 'Ada Kell.');
for (let step = 0; step < 30; step += 1) await training.step([{ sequence, weight: 1 }], 1e-2);
const adapter = await training.save(join(folder, 'varn'));
await training.close();

const { text } = await engine.generate({ prompt, adapter, maxOutputTokens: 32, temperature: 0 });
console.log(text);

await engine.close();
await rm(folder, { recursive: true });
