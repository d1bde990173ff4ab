/**
 * The model's syntax for function calls, as in Qwen's chat templates: after the text any number of JSON objects with
 * `name` and `arguments`, each between `<tool_call>` and `</tool_call>`.
 */
import { randomBytes } from 'node:crypto';
import { isJsonObject } from '../checkpoint/jsonFields.js';
import { parseWithExactNumbers, restoreNumbers } from '../support/exactNumbers.js';
import type { ToolCall, ToolChoice } from '../types.js';

export const callStart = '<tool_call>';
export const callEnd = '</tool_call>';

export interface ParsedCalls {
  /** The text that the model wrote outside its calls. */
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Why the first unreadable call is invalid. */
  readonly invalid?: string;
  /** Whether the end of the output cut off a call. That call is not among `calls`. */
  readonly cutOff: boolean;
}

export interface CallRules {
  /** Names of the offered functions. */
  readonly offered: ReadonlySet<string>;
  /** Whether the output ended at its length limit, not by the model's choice. */
  readonly truncated: boolean;
  /** Keep one call at most. */
  readonly single: boolean;
}

export function parseToolCalls(output: string, rules: CallRules): ParsedCalls {
  const texts: string[] = [];
  const calls: ToolCall[] = [];
  let position = 0;
  for (;;) {
    const start = output.indexOf(callStart, position);
    texts.push(output.slice(position, start < 0 ? undefined : start));
    if (start < 0) return withoutBegunTag(texts, calls, rules);
    if (rules.single && calls.length === 1) break;
    const bodyStart = start + callStart.length;
    const end = output.indexOf(callEnd, bodyStart);
    // The model may end its turn without the closing tag. At the length limit the call is incomplete.
    if (end < 0 && rules.truncated) return { text: join(texts), calls, cutOff: true };
    const call = parseCall(output.slice(bodyStart, end < 0 ? undefined : end), rules.offered);
    if (typeof call === 'string') return { text: join(texts), calls: [], invalid: call, cutOff: false };
    calls.push(call);
    if (end < 0) break;
    position = end + callEnd.length;
  }
  return { text: join(texts), calls, cutOff: false };
}

/** The length limit may also cut off an opening tag of several tokens. */
function withoutBegunTag(
  texts: readonly string[],
  calls: readonly ToolCall[],
  { truncated, single }: CallRules,
): ParsedCalls {
  const last = texts.at(-1) ?? '';
  const begun = truncated && !(single && calls.length === 1) ? begunTagLength(last) : 0;
  return { text: join([...texts.slice(0, -1), last.slice(0, last.length - begun)]), calls, cutOff: begun > 0 };
}

function begunTagLength(text: string): number {
  const lengths = Array.from(callStart, (_, index) => callStart.length - 1 - index);
  return lengths.find((length) => text.endsWith(callStart.slice(0, length))) ?? 0;
}

/** The call, or the reason why `body` is not one. */
function parseCall(body: string, offered: ReadonlySet<string>): ToolCall | string {
  let value: unknown;
  try {
    value = parseWithExactNumbers(body);
  } catch {
    return 'the call is not valid JSON';
  }
  if (!isJsonObject(value)) return 'the call is not a JSON object';
  const { name, arguments: values } = value;
  if (typeof name !== 'string') return 'the call has no name';
  if (!offered.has(name)) return `the function ${JSON.stringify(name)} was not offered`;
  if (!isJsonObject(values)) return `the arguments of ${JSON.stringify(name)} are not a JSON object`;
  try {
    return { id: `call_${randomBytes(12).toString('hex')}`, name, arguments: restoreNumbers(JSON.stringify(values)) };
  } catch {
    // Serialising is recursive, parsing is not.
    return `the arguments of ${JSON.stringify(name)} are nested too deeply`;
  }
}

function join(texts: readonly string[]): string {
  const written = texts.map((text) => text.trim()).filter((text) => text !== '');
  return written.join('\n');
}

/**
 * The text that an answer must begin with to be a call; empty if the model is free. It ends before the space, where a
 * tokenizer would split anyway, so that the model continues as it was trained.
 */
export function forcedOpening(choice: ToolChoice | undefined): string {
  switch (choice?.kind) {
    case 'required':
      return `${callStart}\n{"name":`;
    case 'function':
      return `${callStart}\n{"name": ${JSON.stringify(choice.name)}, "arguments":`;
    default:
      return '';
  }
}
