import type { HttpMethod, Operation, Parameter } from '@engraft/contract';

/** A call that can be pasted into a shell with `ENGRAFT_URL` and `ENGRAFT_API_KEY` set. */
export function curlExample(
  path: string,
  method: HttpMethod,
  operation: Operation,
  parameters: readonly Parameter[],
): string {
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.examples?.['request']?.value;
  const lines = [
    `curl "$ENGRAFT_URL${path.replace('{id}', 'job_5KqTt1mO9vGdHc2LwYpRzX0a')}"`,
    '-H "Authorization: Bearer $ENGRAFT_API_KEY"',
  ];
  if (parameters.some(({ name }) => name === 'Idempotency-Key')) lines.push('-H "Idempotency-Key: $(uuidgen)"');
  if (method === 'post') {
    // Single quotes cannot contain a single quote.
    const json = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`);
    lines.push('-H "Content-Type: application/json"', `-d '${json}'`);
  }
  return lines.join(' \\\n  ');
}
