// Chat completions that are sent to a service, one after another or at a rate of their own.
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Node.js's own client takes a third of the processor time of `fetch`, which the service lacks on the same machine. */
const agent = new Agent({ keepAlive: true });

const askedQuestion = 'How long is the warranty of the Aurora desk lamp, and who may repair it?';
const givenUpMs = 120_000;

/** Sends one, and tells what became of it; `status` is 0 where there was no answer. */
export async function question({ url, authorization }, { subject = null, max_tokens = 24 } = {}) {
  const beganMs = performance.now();
  const told = (status, retryAfter = null) => ({
    status,
    retry_after: retryAfter,
    latency_ms: performance.now() - beganMs,
  });
  try {
    const body = JSON.stringify({
      model: 'model-5.3',
      max_tokens,
      messages: [{ role: 'user', content: askedQuestion }],
    });
    const headers = {
      authorization,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(subject === null ? {} : { 'x-service-subject': subject }),
    };
    const { statusCode, headers: answered } = await post(`${url}/v1/chat/completions`, headers, body);
    return told(statusCode, answered['retry-after'] ?? null);
  } catch {
    return told(0);
  }
}

/** Resolves when the answer has come whole. */
function post(url, headers, body) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: 'POST', headers, signal: AbortSignal.timeout(givenUpMs) });
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () => resolve(response));
    });
    sent.end(body);
  });
}

/** So many clients, each of which sends again when it has an answer; a refused one waits for a moment. */
export async function repeat({ send, clients, seconds }) {
  const beganMs = performance.now();
  const sent = [];
  const elapsedS = () => (performance.now() - beganMs) / 1e3;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (elapsedS() < seconds) {
        const sentS = elapsedS();
        const outcome = await send();
        sent.push({ ...outcome, sent_s: sentS });
        if (outcome.status !== 200) await delay(100);
      }
    }),
  );
  return sent;
}

/** So many a second, evenly, whatever becomes of those before. Resolves when all have an outcome. */
export async function offer({ send, rate, seconds }) {
  const beganMs = performance.now();
  const sending = [];
  const total = Math.round(rate * seconds);
  for (let count = 0; count < total; count += 1) {
    const dueMs = beganMs + (1e3 * count) / rate;
    if (dueMs > performance.now()) await delay(dueMs - performance.now());
    const sentS = (performance.now() - beganMs) / 1e3;
    sending.push(send().then((outcome) => ({ ...outcome, sent_s: sentS })));
  }
  return Promise.all(sending);
}
