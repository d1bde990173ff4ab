// A load over HTTP: so many connections, each with one request at a time.
import { Agent, request } from 'node:http';

/**
 * Sends `next()` over and over until the time is up. Returns the latencies in milliseconds and the seconds it took.
 * @param {{ port: number, connections: number, seconds: number, next: () => { method: string, path: string,
 *   headers: Record<string, string>, body?: string, status: number } }} load
 */
export async function runLoad({ port, connections, seconds, next }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies = [];
  const started = performance.now();
  const deadline = started + seconds * 1e3;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < deadline) {
        const before = performance.now();
        await send(agent, port, next());
        latencies.push(performance.now() - before);
      }
    }),
  );
  agent.destroy();
  return { latencies, seconds: (performance.now() - started) / 1e3 };
}

function send(agent, port, { method, path, headers, body, status }) {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const sent = request({ agent, port, host: '127.0.0.1', method, path, headers: { ...headers, ...length } });
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === status) resolve();
        else reject(new Error(`${method} ${path} answered ${response.statusCode}, not ${status}`));
      });
    });
    sent.end(body);
  });
}

/** Requests a second, and the latencies that so many percent of them stay under. */
export function summarise(loads) {
  const latencies = loads.flatMap((load) => load.latencies).sort((a, b) => a - b);
  const seconds = loads.reduce((sum, load) => sum + load.seconds, 0);
  const percentile = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / seconds,
    p50_ms: percentile(0.5),
    p95_ms: percentile(0.95),
    p99_ms: percentile(0.99),
  };
}
