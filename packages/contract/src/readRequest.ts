import type { z } from 'zod';
import { findConversationProblem, findSentProblem } from './conversation.js';
import { maxEchoUnits, fieldPath } from './fieldPath.js';
import { inferenceRequest, type InferenceRequest } from './requests.js';

/** A request body that was read, or the first field that does not fit. `param` is '' for the body itself. */
export type ReadOutcome<Value> =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'invalid'; readonly param: string; readonly message: string };

/** Reads a parsed JSON body by its schema, with defaults filled in. */
export function readRequest<Schema extends z.ZodType>(schema: Schema, body: unknown): ReadOutcome<z.output<Schema>> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return { kind: 'read', value: parsed.data };
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw new Error('a failed parse has no issue');
  if (issue.code === 'unrecognized_keys') {
    return invalid([...issue.path, ...issue.keys.slice(0, 1)], 'this field is not accepted');
  }
  return invalid(issue.path, isMissing(body, issue.path) ? 'this field is required' : issue.message);
}

function isMissing(body: unknown, path: readonly PropertyKey[]): boolean {
  const [step, ...further] = path;
  if (step === undefined) return false;
  if (typeof body !== 'object' || body === null) return false;
  if (!Object.hasOwn(body, step)) return true;
  return isMissing(Reflect.get(body, step), further);
}

/** The body of `POST /v1/inferences`, with the rules over the whole conversation. */
export function readInferenceRequest(body: unknown): ReadOutcome<InferenceRequest> {
  const outcome = readRequest(inferenceRequest, body);
  if (outcome.kind === 'invalid') return outcome;
  // The schema has shown that the body is an object with these fields. Their size counts as they were sent.
  const sent = body as { messages: unknown; tools?: unknown };
  const problem = findConversationProblem(outcome.value) ?? findSentProblem(sent);
  return problem === null ? outcome : { kind: 'invalid', ...problem };
}

function invalid(path: readonly PropertyKey[], message: string): ReadOutcome<never> {
  return {
    kind: 'invalid',
    param: fieldPath(path).slice(0, maxEchoUnits),
    message: message.slice(0, maxEchoUnits),
  };
}
