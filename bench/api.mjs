// How many requests the HTTP interface answers, how fast, and at which ratio to a bare Fastify that runs the same SQL;
// on a quiet machine, and while passages are learned on it.
//
// npm run bench -- api [--seconds 3] [--rounds 3] [--connections 16] [--learning yes|no]
//
// The service and its peer take turns, a few seconds each, in the same process and on the same database; only one of
// them is under load at a time. The peer has no key to check, no schema, no access rules and no metrics: just a route
// and the statements that the service was seen to run. So the ratio is what everything besides SQL costs.
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startLearning } from './lib/learningLoad.mjs';
import { runLoad, summarise } from './lib/load.mjs';
import { machine, option, withLoadNote, writeResults } from './lib/measure.mjs';

export default async function bench(args) {
  const seconds = Number(option(args, 'seconds', '3'));
  const rounds = Number(option(args, 'rounds', '3'));
  const connections = Number(option(args, 'connections', '16'));
  const server = fork(fileURLToPath(new URL('./lib/apiServer.mjs', import.meta.url)));
  const [target] = await once(server, 'message');
  const workloads = workloadsOf(target);
  const results = {
    machine: withLoadNote(machine()),
    connections,
    seconds,
    rounds,
    withoutLearning: {},
    learning: null,
  };

  results.withoutLearning = await measure(workloads, { connections, seconds, rounds });
  print('The machine as it is', results.withoutLearning);
  const learning = option(args, 'learning', 'yes') === 'yes' ? await startLearning() : null;
  if (learning !== null) {
    results.learning = await measure(workloads, { connections, seconds, rounds });
    await learning.stop();
    results.learningJobsEnded = learning.endedJobs();
    print(`While passages are learned (${results.learningJobsEnded} meanwhile)`, results.learning);
  }
  server.disconnect();
  await once(server, 'exit');
  writeResults('api', results);
}

function workloadsOf({ service_port, bare_port, authorization, job_id, body }) {
  const json = JSON.stringify(body);
  const post = (idempotencyKey) => ({
    authorization,
    'content-type': 'application/json',
    'idempotency-key': idempotencyKey,
  });
  const service = (next) => ({ port: service_port, next });
  const bare = (method, path, status) => ({
    port: bare_port,
    next: () => ({
      method,
      path,
      status,
      headers: method === 'POST' ? post('bench-replayed-key') : { authorization },
      ...(method === 'POST' ? { body: json } : {}),
    }),
  });
  const write = (status, idempotencyKey) => () => ({
    method: 'POST',
    path: '/v1/inferences',
    headers: post(idempotencyKey()),
    body: json,
    status,
  });
  return {
    'GET /v1/jobs/{id}': {
      service: service(() => ({ method: 'GET', path: `/v1/jobs/${job_id}`, headers: { authorization }, status: 200 })),
      bare: bare('GET', '/read', 200),
    },
    admission: { service: service(write(202, randomUUID)), bare: bare('POST', '/admit', 202) },
    'idempotent replay': {
      service: service(write(200, () => 'bench-replayed-key')),
      bare: bare('POST', '/replay', 202),
    },
  };
}

/** Service and peer in turn, a round of each workload after the other; the first round only warms up. */
async function measure(workloads, { connections, seconds, rounds }) {
  const loads = {};
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, sides] of Object.entries(workloads)) {
      for (const [side, { port, next }] of Object.entries(sides)) {
        const load = await runLoad({ port, next, connections, seconds: round < 0 ? Math.min(1, seconds) : seconds });
        if (round >= 0) ((loads[name] ??= {})[side] ??= []).push(load);
      }
    }
  }
  return Object.fromEntries(
    Object.entries(loads).map(([name, sides]) => {
      const service = summarise(sides.service);
      const bare = summarise(sides.bare);
      const ratio = {
        requestsPerSecond: service.requestsPerSecond / bare.requestsPerSecond,
        p50: service.p50_ms / bare.p50_ms,
        p95: service.p95_ms / bare.p95_ms,
        p99: service.p99_ms / bare.p99_ms,
      };
      return [name, { service, bare, ratio }];
    }),
  );
}

function print(title, results) {
  console.log(`\n${title}`);
  console.table(
    Object.fromEntries(
      Object.entries(results).map(([name, { service, bare, ratio }]) => [
        name,
        {
          'requests/s': service.requestsPerSecond.toFixed(0),
          'p50 ms': service.p50_ms.toFixed(1),
          'p95 ms': service.p95_ms.toFixed(1),
          'p99 ms': service.p99_ms.toFixed(1),
          'bare requests/s': bare.requestsPerSecond.toFixed(0),
          'of bare': `${(100 * ratio.requestsPerSecond).toFixed(0)} %`,
        },
      ]),
    ),
  );
}
