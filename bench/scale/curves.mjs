// Throughput and latency by the number of processes.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runLoad, summarise } from '../lib/load.mjs';
import { root } from '../lib/measure.mjs';
import { question, repeat } from '../lib/questions.mjs';
import { quantile } from '../lib/statistics.mjs';

/** A worker answers eight requests at once. */
const clientsOfAWorker = 8;

/**
 * Reads and admissions, by so many API processes and no worker. The counts take turns, so that load that comes and goes
 * slows all alike.
 * @returns {Promise<{ workload: string, processes: number, requestsPerSecond: number, p50_ms: number, p95_ms: number,
 *   p99_ms: number, requests: number }[]>}
 */
export async function measureApis(fleet, { counts, connections, seconds, rounds }) {
  const apis = [];
  while (apis.length < Math.max(...counts)) apis.push(await fleet.startApi());
  const workloads = await workloadsOf(fleet, apis[0]);
  const cells = counts.flatMap((processes) =>
    Object.keys(workloads).map((workload) => ({ workload, processes, loads: [] })),
  );
  for (let round = -1; round < rounds; round += 1) {
    for (const { workload, processes, loads } of cells) {
      const together = await Promise.all(
        apis.slice(0, processes).map(({ port }) =>
          runLoad({
            port,
            connections: connections / processes,
            // The first round only warms up.
            seconds: round < 0 ? 1 : seconds,
            next: workloads[workload],
          }),
        ),
      );
      if (round >= 0) loads.push(asOne(together));
    }
  }
  for (const api of apis) await api.stop();
  return cells.map(({ loads, ...cell }) => ({ ...cell, ...summarise(loads) }));
}

/** Several loads at the same time, as one. */
function asOne(loads) {
  return {
    latencies: loads.flatMap(({ latencies }) => latencies),
    seconds: Math.max(...loads.map(({ seconds }) => seconds)),
  };
}

async function workloadsOf({ authorization }, { url }) {
  const body = JSON.stringify({
    subject_id: 'bench',
    messages: [{ role: 'user', content: 'How long is the warranty of the Aurora desk lamp, and who may repair it?' }],
  });
  const headers = () => ({ authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() });
  const admitted = await fetch(`${url}/v1/inferences`, { method: 'POST', headers: headers(), body });
  const { id } = await admitted.json();
  return {
    'reading a job': () => ({ method: 'GET', path: `/v1/jobs/${id}`, headers: { authorization }, status: 200 }),
    admission: () => ({ method: 'POST', path: '/v1/inferences', headers: headers(), body, status: 202 }),
  };
}

/** Answers, and passages learned, by so many workers and one API process. */
export async function measureWorkers(fleet, { counts, seconds, passages }) {
  const api = await fleet.startApi();
  const measured = [];
  for (const processes of counts) {
    const workers = [];
    while (workers.length < processes) workers.push(await fleet.startWorker());
    const answers = await measureAnswers(fleet, api, { processes, seconds });
    const learning = await measureLearning(api, passages, processes);
    measured.push({ processes, ...answers, ...learning });
    for (const worker of workers) await worker.stop();
  }
  await api.stop();
  return measured;
}

async function measureAnswers({ authorization }, { url }, { processes, seconds }) {
  const send = () => question({ url, authorization });
  const clients = clientsOfAWorker * processes;
  await repeat({ send, clients, seconds: 3 });
  const beganMs = performance.now();
  const sent = await repeat({ send, clients, seconds });
  const tookS = (performance.now() - beganMs) / 1e3;
  const others = sent.filter(({ status }) => status !== 200);
  if (others.length > 0) throw new Error(`${others.length} of ${sent.length} questions were not answered`);
  const latencies = sent.map(({ latency_ms }) => latency_ms);
  return {
    clients,
    answersPerSecond: sent.length / tookS,
    p50_ms: quantile(latencies, 0.5),
    p95_ms: quantile(latencies, 0.95),
  };
}

/** So many passages, each for a subject of its own, that are sent together. */
async function measureLearning({ client }, passages, processes) {
  const content = readFileSync(join(root, 'examples/lamp.txt'), 'utf8');
  const beganMs = performance.now();
  await Promise.all(
    Array.from({ length: passages }, async (_, index) => {
      const subject = `lamp-${processes}-${index}`;
      const { id } = await client.internalizations.create({
        subject_id: subject,
        content,
        max_cost_microusd: 3_000_000,
      });
      await untilEnded(client, id);
    }),
  );
  return { passages, learning_s: (performance.now() - beganMs) / 1e3 };
}

async function untilEnded(client, id) {
  for (;;) {
    const job = await client.jobs.get(id);
    if (job.status === 'ready' || job.status === 'rejected') return;
    if (job.status !== 'queued' && job.status !== 'running') throw new Error(`${id} ended as ${job.status}`);
    await delay(250);
  }
}
