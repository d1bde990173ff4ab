// Chat completions that are sent to a service, one after another or at a rate of their own.
import { setTimeout as delay } from 'node:timers/promises';

const QUESTION = 'How long is the warranty of the Aurora desk lamp, and who may repair it?';
const GIVEN_UP_MS = 120_000;

/** Sends one, and tells what became of it; `status` is 0 where there was no answer. */
export async function question({ url, authorization }, { subject = null, max_tokens = 24 } = {}) {
  const began_ms = performance.now();
  const told = (status, retry_after = null) => ({ status, retry_after, latency_ms: performance.now() - began_ms });
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        ...(subject === null ? {} : { 'x-service-subject': subject }),
      },
      body: JSON.stringify({ model: 'model-5.3', max_tokens, messages: [{ role: 'user', content: QUESTION }] }),
      signal: AbortSignal.timeout(GIVEN_UP_MS),
    });
    await response.text();
    return told(response.status, response.headers.get('retry-after'));
  } catch {
    return told(0);
  }
}

/** So many clients, each of which sends again when it has an answer; a refused one waits for a moment. */
export async function repeat({ send, clients, seconds }) {
  const began_ms = performance.now();
  const sent = [];
  const elapsed_s = () => (performance.now() - began_ms) / 1e3;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (elapsed_s() < seconds) {
        const sent_s = elapsed_s();
        const outcome = await send();
        sent.push({ ...outcome, sent_s });
        if (outcome.status !== 200) await delay(100);
      }
    }),
  );
  return sent;
}

/** So many a second, evenly, whatever becomes of those before. Resolves when all have an outcome. */
export async function offer({ send, rate, seconds }) {
  const began_ms = performance.now();
  const sending = [];
  const total = Math.round(rate * seconds);
  for (let count = 0; count < total; count += 1) {
    const due_ms = began_ms + (1e3 * count) / rate;
    if (due_ms > performance.now()) await delay(due_ms - performance.now());
    const sent_s = (performance.now() - began_ms) / 1e3;
    sending.push(send().then((outcome) => ({ ...outcome, sent_s })));
  }
  return Promise.all(sending);
}
