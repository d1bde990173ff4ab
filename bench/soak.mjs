// Whether the memory of a service stays flat while it works for long.
//
// npm run bench -- soak [--minutes 60] [--clients 8]
//
// `engraft serve` with the shipped model: `--clients` ask base and what was learned in turn, each again when it has its
// answer, and one passage after another is learned. Every few seconds the memory of the service, of the engine that
// answers, of the one that trains and of the database is read (Linux). Training comes and goes; of the others the first
// quarter of the time is for caches to fill; memory is flat when the median of the last quarter is at most a tenth
// above that of the second. Writes bench/results/soak.{json,svg}.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EngraftClient } from '../packages/client/dist/index.js';
import { linePlot } from './lib/linePlot.mjs';
import { machine, option, root, withLoadNote, writeResults } from './lib/measure.mjs';
import { question, repeat } from './lib/questions.mjs';
import { startShippedService } from './lib/shippedService.mjs';
import { median, quantile } from './lib/statistics.mjs';

const sampleCount = 240;
const maxGrowth = 1.1;
const subjects = 4;

export default async function bench(args) {
  const minutes = Number(option(args, 'minutes', '60'));
  const clients = Number(option(args, 'clients', '8'));
  const seconds = 60 * minutes;
  const results = { machine: withLoadNote(machine()), minutes, clients };
  const service = await startShippedService();
  try {
    let count = 0;
    const send = () => {
      count += 1;
      // A subject that has learned nothing yet is answered by base.
      return question(service, { subject: `subject-${count % subjects}` });
    };
    const [sent, learned, samples] = await Promise.all([
      repeat({ send, clients, seconds }),
      learnOver(service, seconds),
      sampleMemory(service, seconds),
    ]);
    Object.assign(results, { learned, samples });
    results.answered = sent.filter(({ status }) => status === 200).length;
    results.other_statuses = sent.filter(({ status }) => status !== 200).map(({ status }) => status);
    results.p95_ms = quarters(sent, ({ sent_s }) => sent_s / seconds).map((those) =>
      quantile(
        those.map(({ latency_ms }) => latency_ms),
        0.95,
      ),
    );
  } finally {
    await service.stop();
  }
  results.memory = Object.fromEntries(
    ['service', 'engine', 'database', 'all'].map((name) => [name, growthOf(results.samples, name, seconds)]),
  );
  print(results);
  writeResults('soak', results);
  writeFileSync(join(root, 'bench/results/soak.svg'), plot(results));
}

async function sampleMemory(service, seconds) {
  const beganMs = performance.now();
  const samples = [];
  for (;;) {
    const atS = (performance.now() - beganMs) / 1e3;
    if (atS >= seconds) return samples;
    const bytes = service.memory();
    if (bytes === null) throw new Error('there is no /proc to read memory from');
    samples.push({ at_s: atS, ...bytes, all: bytes.service + bytes.engine + bytes.database });
    await delay((1e3 * seconds) / sampleCount);
  }
}

/** One passage after another, into one subject after another; returns how each ended. */
async function learnOver({ url, authorization }, seconds) {
  const client = new EngraftClient({ baseUrl: url, apiKey: authorization.slice('Bearer '.length) });
  const content = readFileSync(join(root, 'examples/lamp.txt'), 'utf8');
  const beganMs = performance.now();
  const endings = {};
  for (let count = 0; performance.now() - beganMs < 1e3 * seconds; count += 1) {
    const subjectId = `subject-${count % subjects}`;
    const { id } = await client.internalizations.create({
      subject_id: subjectId,
      content,
      max_cost_microusd: 3_000_000,
    });
    const { status } = await client.jobs.wait(id);
    endings[status] = (endings[status] ?? 0) + 1;
  }
  return endings;
}

function quarters(items, shareOf) {
  return [0, 1, 2, 3].map((quarter) => items.filter((item) => Math.min(3, Math.floor(4 * shareOf(item))) === quarter));
}

function growthOf(samples, name, seconds) {
  const medians = quarters(samples, ({ at_s }) => at_s / seconds).map((those) =>
    median(those.map((each) => each[name])),
  );
  return { medians, growth: medians[3] / medians[1] };
}

const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(0);

function print({ minutes, answered, other_statuses, learned, memory, p95_ms }) {
  console.log(
    `${minutes} minutes: ${answered} answers, ${other_statuses.length} others, learned ${JSON.stringify(learned)}`,
  );
  console.table(
    Object.fromEntries(
      Object.entries(memory).map(([name, { medians, growth }]) => [
        name,
        {
          ...Object.fromEntries(medians.map((bytes, index) => [`quarter ${index + 1}, MiB`, mebibytes(bytes)])),
          growth: growth.toFixed(2),
          flat: growth <= maxGrowth ? 'yes' : 'no',
        },
      ]),
    ),
  );
  console.log(`p95 of answers in each quarter, ms: ${p95_ms.map((value) => value.toFixed(0)).join(', ')}`);
}

function plot({ samples, minutes, machine: { cpu, loadAverage } }) {
  return linePlot({
    title: `Memory over ${minutes} minutes of answering and learning, MiB`,
    note: `${cpu}, load average at the start ${loadAverage.toFixed(1)}`,
    x: 'minutes',
    lines: ['service', 'engine', 'training', 'database'].map((name) => ({
      name,
      points: samples.map((sample) => ({ x: sample.at_s / 60, y: sample[name] / 2 ** 20 })),
    })),
  });
}
