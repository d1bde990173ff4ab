// Chat completions that are sent to a service, one after another or at a rate of their own.
import { setTimeout as delay } from 'node:timers/promises';

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
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        ...(subject === null ? {} : { 'x-service-subject': subject }),
      },
      body: JSON.stringify({ model: 'model-5.3', max_tokens, messages: [{ role: 'user', content: askedQuestion }] }),
      signal: AbortSignal.timeout(givenUpMs),
    });
    await response.text();
    return told(response.status, response.headers.get('retry-after'));
  } catch {
    return told(0);
  }
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
