// The requests that the parts of the bench send: short questions, greedy answers of a fixed length.

export const prompts = [
  'Who runs the mill?',
  'Where is the harbour of Varn?',
  'When was the company founded?',
  'How much does the lamp cost?',
  'What does Ada Kell make?',
  'Which town has the oldest bridge?',
  'How heavy is the clock?',
  'Who invented the Lume Lamp?',
];

export function requestOf(index, { outputTokens, adapter = null }) {
  const prompt = { messages: [{ role: 'user', content: prompts[index % prompts.length] }] };
  return { prompt, adapter, maxOutputTokens: outputTokens, temperature: 0 };
}

/**
 * Generates for `batch` requests at once.
 * @param {import('../../packages/engine/dist/index.js').Engine} engine
 * @param {{ batch: number, outputTokens: number, adapters?: (AdapterReference | null)[] }} plan `adapters` by request
 */
export async function generateTogether(engine, { batch, outputTokens, adapters = [] }) {
  const requests = Array.from({ length: batch }, (_, index) =>
    engine.generate(requestOf(index, { outputTokens, adapter: adapters[index] ?? null })),
  );
  for (const { usage } of await Promise.all(requests)) {
    // A sequence that ended early would be less work than was counted.
    if (usage.outputTokens !== outputTokens) throw new Error(`an output ended after ${usage.outputTokens} tokens`);
  }
}
