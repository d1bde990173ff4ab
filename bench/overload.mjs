// What becomes of a service that is asked for more than it can do: how soon it refuses, how long those wait whom it
// admits, and whether it recovers by itself.
//
// npm run bench -- overload [--times 10] [--seconds 60] [--limit 12]
//
// `engraft serve` with the shipped model, whose limit of open jobs is `--limit` (eight of them are answered at once).
// First it is full but not over load: eight clients, each of which asks again when it has its answer. Then questions
// come at `--times` as many a second as it answered, whatever becomes of those before. Then it is full again.
// Each phase takes `--seconds`. Writes bench/results/overload.{json,svg}.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { linePlot } from './lib/linePlot.mjs';
import { machine, option, root, withLoadNote, writeResults } from './lib/measure.mjs';
import { offer, question, repeat } from './lib/questions.mjs';
import { startShippedService } from './lib/shippedService.mjs';
import { groupBy, quantile } from './lib/statistics.mjs';

/** As many as a worker answers at once. */
const clients = 8;
const windowS = 2;

export default async function bench(args) {
  const times = Number(option(args, 'times', '10'));
  const seconds = Number(option(args, 'seconds', '60'));
  const limit = Number(option(args, 'limit', '12'));
  const results = { machine: withLoadNote(machine()), times, seconds, limit, clients };
  const service = await startShippedService({ ENGRAFT_PROJECT_OPEN_JOBS: String(limit) });
  const send = () => question(service);
  try {
    await repeat({ send, clients, seconds: Math.min(10, seconds) });
    const idle = work(service);
    const full = await repeat({ send, clients, seconds });
    results.processor_seconds_when_full = used(idle, work(service));
    const rate = (times * answersOf(full).length) / seconds;
    const memoryBefore = service.memory();
    const health = watchHealth(service);
    const workBefore = work(service);
    const over = await offer({ send, rate, seconds });
    results.processor_seconds = used(workBefore, work(service));
    const recovered = await untilAnswered(send);
    const healthMs = await health.stop();
    const after = await repeat({ send, clients, seconds });
    results.offered_per_second = rate;
    results.phases = { full: describe(full), over: describe(over), after: describe(after) };
    results.recovery_s = recovered / 1e3;
    results.healthz_ms = { p50: quantile(healthMs, 0.5), p95: quantile(healthMs, 0.95) };
    results.p95_ratio = results.phases.over.answered.p95_ms / results.phases.full.answered.p95_ms;
    results.memory = { before: memoryBefore, after: service.memory() };
    results.series = { full: windows(full), over: windows(over), after: windows(after) };
  } finally {
    await service.stop();
  }
  print(results);
  writeResults('overload', results);
  writeFileSync(join(root, 'bench/results/overload.svg'), plot(results));
}

/** Processor time of the load itself and of what it is sent to, in seconds; `null` where there is no /proc. */
function work(service) {
  const { user, system } = process.cpuUsage();
  const parts = service.processorTime();
  return parts === null ? null : { load: (user + system) / 1e6, ...parts };
}

function used(before, after) {
  if (before === null || after === null) return null;
  return Object.fromEntries(Object.entries(after).map(([part, seconds]) => [part, seconds - before[part]]));
}

const answersOf = (sent) => sent.filter(({ status }) => status === 200);
const refusalsOf = (sent) => sent.filter(({ status }) => status === 429);

function describe(sent) {
  const refused = refusalsOf(sent);
  const others = sent.filter(({ status }) => status !== 200 && status !== 429);
  return {
    sent: sent.length,
    answered: latencies(answersOf(sent)),
    refused: latencies(refused),
    refused_without_retry_after: refused.filter(({ retry_after }) => retry_after === null).length,
    neither: others.length,
    statuses: Object.fromEntries(Object.entries(groupBy(sent, ({ status }) => status)).map(countOf)),
  };
}

const countOf = ([status, sent]) => [status, sent.length];

function latencies(sent) {
  const all = sent.map(({ latency_ms }) => latency_ms);
  if (all.length === 0) return { count: 0, p50_ms: null, p95_ms: null, p99_ms: null };
  return { count: all.length, p50_ms: quantile(all, 0.5), p95_ms: quantile(all, 0.95), p99_ms: quantile(all, 0.99) };
}

/** Until a question is admitted again and answered. */
async function untilAnswered(send) {
  const beganMs = performance.now();
  while ((await send()).status !== 200) await delay(20);
  return performance.now() - beganMs;
}

/** How long `/healthz` takes, asked four times a second. */
function watchHealth({ url }) {
  const all = [];
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const beganMs = performance.now();
      await (await fetch(`${url}/healthz`)).text();
      all.push(performance.now() - beganMs);
      await delay(250);
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await watching;
      return all;
    },
  };
}

/** The slowest twentieth of what was sent within each two seconds. */
function windows(sent) {
  const inWindows = groupBy(sent, ({ sent_s }) => Math.floor(sent_s / windowS) * windowS);
  return Object.entries(inWindows).map(([atS, those]) => ({
    at_s: Number(atS),
    answered: latencies(answersOf(those)).p95_ms,
    refused: latencies(refusalsOf(those)).p95_ms,
  }));
}

function print(results) {
  const { phases, p95_ratio, recovery_s, healthz_ms, offered_per_second, times } = results;
  const { processor_seconds, processor_seconds_when_full } = results;
  console.table(
    Object.fromEntries(
      Object.entries(phases).map(([name, { sent, answered, refused, neither, refused_without_retry_after }]) => [
        name,
        {
          sent,
          answered: answered.count,
          'p50 ms': answered.p50_ms?.toFixed(0) ?? '–',
          'p95 ms': answered.p95_ms?.toFixed(0) ?? '–',
          refused: refused.count,
          'refusal p50 ms': refused.p50_ms?.toFixed(0) ?? '–',
          'refusal p95 ms': refused.p95_ms?.toFixed(0) ?? '–',
          'without Retry-After': refused_without_retry_after,
          neither,
        },
      ]),
    ),
  );
  console.log(`${offered_per_second.toFixed(1)} questions a second were offered, ${times} times what was answered`);
  for (const [name, parts] of [
    ['when full', processor_seconds_when_full],
    ['over load', processor_seconds],
  ]) {
    if (parts === null) continue;
    const each = Object.entries(parts).map(([part, seconds]) => `${part} ${seconds.toFixed(1)}`);
    console.log(`seconds of processor time ${name}: ${each.join(', ')}`);
  }
  console.log(`p95 of answers over load against full: ${p95_ratio.toFixed(2)} (at most 2 is wanted)`);
  console.log(`answered again ${recovery_s.toFixed(1)} s after the load; /healthz p95 ${healthz_ms.p95.toFixed(0)} ms`);
}

function plot({ series, times, seconds, machine: { cpu, loadAverage } }) {
  const place = { full: 0, over: seconds, after: 2 * seconds };
  const points = (which) =>
    Object.entries(series).flatMap(([phase, all]) =>
      all.map((window) => ({ x: place[phase] + window.at_s, y: window[which] })).filter(({ y }) => y !== null),
    );
  return linePlot({
    title: `Full, ${times} times the load, full again: p95 of each ${windowS} s, ms`,
    note: `${cpu}, load average at the start ${loadAverage.toFixed(1)}`,
    x: 'seconds',
    lines: [
      { name: 'answers', points: points('answered') },
      { name: 'refusals', points: points('refused') },
    ],
  });
}
