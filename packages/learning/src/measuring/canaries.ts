import type {
  AdapterReference,
  CallOptions,
  ChatPrompt,
  Engine,
  GenerateResult,
  ToolDefinition,
} from '@engraft/engine';
import { mapConcurrently } from '../calls.js';
import { wordTokens } from '../normalise.js';
import { readingPrompt } from '../prompts.js';
import { spreadSample } from '../random.js';
import { isRight } from './asking.js';
import type { PassageEntry } from './passageSet.js';

/** What an adapter must leave alone. */
export const canaryKinds = ['reading', 'small_talk', 'json', 'tools'] as const;
export type CanaryKind = (typeof canaryKinds)[number];

/** Of what base could do (`held`), how much the adapter cannot (`lost`). */
export interface CanaryLoss {
  readonly held: number;
  readonly lost: number;
}

export type CanaryReport = Readonly<Record<CanaryKind, CanaryLoss>>;

interface Canary {
  readonly kind: CanaryKind;
  /** The passage that a reading canary is about. */
  readonly passageId: string | null;
  readonly prompt: ChatPrompt;
  /** Whether a reply is in order; `base` is what the model says without an adapter. */
  readonly passes: (reply: GenerateResult, base: GenerateResult) => boolean;
}

/** Each asks about another passage, so that learning one of them leaves the others. */
const readingCanaries = 16;
/** Enough for a small JSON object. */
const maxReplyTokens = 64;

/** Probes of reading other passages, small talk, JSON and tools, with what base says to each of them. */
export class Canaries {
  private constructor(
    private readonly engine: Engine,
    private readonly canaries: readonly (readonly [Canary, GenerateResult])[],
  ) {}

  /** Asks base everything once, and keeps what it can do. */
  static async open(engine: Engine, passages: readonly PassageEntry[], options: CallOptions): Promise<Canaries> {
    const all = [...readingOf(passages), ...smallTalk, ...json, ...tools];
    const replies = await mapConcurrently(all, (canary) => reply(engine, canary, null, options));
    const held = all.flatMap((canary, index) => {
      const base = replies[index];
      return base !== undefined && canary.passes(base, base) ? [[canary, base] as const] : [];
    });
    return new Canaries(engine, held);
  }

  /** Leaves out the passages that the adapter has learned. */
  async check(adapter: AdapterReference, learned: ReadonlySet<string>, options: CallOptions): Promise<CanaryReport> {
    const chosen = this.canaries.filter(([{ passageId }]) => passageId === null || !learned.has(passageId));
    const kept = await mapConcurrently(chosen, async ([canary, base]) =>
      canary.passes(await reply(this.engine, canary, adapter, options), base),
    );
    const lossOf = (kind: CanaryKind): CanaryLoss => {
      const ofKind = chosen.flatMap(([canary], index) => (canary.kind === kind ? [kept[index] === true] : []));
      return { held: ofKind.length, lost: ofKind.filter((isKept) => !isKept).length };
    };
    return {
      reading: lossOf('reading'),
      small_talk: lossOf('small_talk'),
      json: lossOf('json'),
      tools: lossOf('tools'),
    };
  }
}

function reply(
  engine: Engine,
  { prompt }: Canary,
  adapter: AdapterReference | null,
  options: CallOptions,
): Promise<GenerateResult> {
  return engine.generate({ prompt, adapter, maxOutputTokens: maxReplyTokens, temperature: 0 }, options);
}

/** One question a passage, another one each time; passages too long for one prompt are left out. */
function readingOf(passages: readonly PassageEntry[]): Canary[] {
  const short = passages.filter(({ passage }) => passage.length <= 1500);
  return spreadSample(short, readingCanaries).flatMap(({ id, passage, questions }, index): Canary[] => {
    const chosen = questions[(3 * index) % questions.length];
    if (chosen === undefined) return [];
    const prompt = readingPrompt(passage, chosen.phrasings[0] ?? '');
    return [{ kind: 'reading', passageId: id, prompt, passes: ({ text }) => isRight(text, chosen.answers) }];
  });
}

function said(content: string, given: readonly ToolDefinition[] = []): ChatPrompt {
  return { messages: [{ role: 'user', content }], ...(given.length === 0 ? {} : { tools: given }) };
}

/** There is no right reply to a greeting, so the reply must stay near base's: F1 over words of at least a half. */
const smallTalk = [
  'Hello!',
  'Good morning.',
  'How are you?',
  'Who are you?',
  'What can you do?',
  'Can you help me?',
  'Thank you very much.',
  'Goodbye.',
].map((text): Canary => ({
  kind: 'small_talk',
  passageId: null,
  prompt: said(text),
  passes: (given, base) => given.finishReason === 'stop' && sharedWordsF1(given.text, base.text) >= 0.5,
}));

/** 0 when either says nothing. */
function sharedWordsF1(a: string, b: string): number {
  const [left, right] = [wordTokens(a), wordTokens(b)];
  const rest = [...right];
  let shared = 0;
  for (const word of left) {
    const at = rest.indexOf(word);
    if (at < 0) continue;
    rest.splice(at, 1);
    shared++;
  }
  return shared === 0 ? 0 : (2 * shared) / (left.length + right.length);
}

const json = (
  [
    ['Anna Berg is 34 years old and lives in Oslo.', ['name', 'age', 'city']],
    ['The red bicycle costs 250 euros.', ['item', 'colour', 'price']],
    ['The meeting is on Tuesday at 10:30.', ['day', 'time']],
    ['Tom ordered two cups of tea.', ['customer', 'drink', 'count']],
    ['Lake Mora is 12 kilometres long.', ['lake', 'length']],
    ['The book has 310 pages and was written by Ida Holm.', ['author', 'pages']],
  ] as const
).map(([text, keys]): Canary => ({
  kind: 'json',
  passageId: null,
  prompt: said(`${text} Answer only with a JSON object that has the keys ${keys.join(', ')}.`),
  passes: (given) => {
    const object = objectOf(given.text);
    return object !== null && keys.every((key) => key in object);
  },
}));

const functions: readonly ToolDefinition[] = [
  functionOf('get_weather', 'The weather in a city.', 'city'),
  functionOf('set_alarm', 'Sets an alarm clock.', 'time'),
  functionOf('send_message', 'Sends a message to a person.', 'recipient'),
];

const tools = (
  [
    ['What is the weather in Oslo?', 'get_weather', 'city'],
    ['Is it raining in Lisbon now?', 'get_weather', 'city'],
    ['Wake me at 6:30.', 'set_alarm', 'time'],
    ['Set an alarm for 7 am, please.', 'set_alarm', 'time'],
    ['Write to Anna that I am late.', 'send_message', 'recipient'],
    ['Send a message to Peter.', 'send_message', 'recipient'],
  ] as const
).map(([text, name, argument]): Canary => ({
  kind: 'tools',
  passageId: null,
  prompt: said(text, functions),
  passes: ({ toolCalls: [call] }) => {
    const given = call?.name === name ? objectOf(call.arguments) : null;
    return given !== null && argument in given;
  },
}));

function functionOf(name: string, description: string, argument: string): ToolDefinition {
  const parameters = { type: 'object', properties: { [argument]: { type: 'string' } }, required: [argument] };
  return { name, description, parameters };
}

function objectOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
