import type {
  AdapterReference,
  CallOptions,
  ChatPrompt,
  Engine,
  GenerateResult,
  ToolDefinition,
} from '@engraft/engine';
import { spreadSample, type Prompts } from '@engraft/learning';
import { jsonObjectOf, mapConcurrently, mean } from '@engraft/learning/parts';
import { isRight } from './asking.js';
import { knownFacts, knownSums, type KnownTask } from './knownTasks.js';
import { hasValues, objectTasks, type ExpectedValues } from './objectTasks.js';
import type { PassageEntry } from './passageSet.js';
import { isSensible, smallTalk, type WeighedReply } from './smallTalk.js';

/** Skills that an adapter must leave alone. */
export const canaryKinds = ['reading', 'facts', 'arithmetic', 'small_talk', 'json', 'tools'] as const;

export type CanaryKind = (typeof canaryKinds)[number];

/**
 * Counts of canaries: how many were `asked`, how many base passes (`held`), how many of these the adapter fails
 * (`lost`), and how many it passes that base fails (`gained`). Borderline canaries fall to either side, so the points
 * lost are lost minus gained, see `pointsLost`.
 */
export interface CanaryLoss {
  readonly asked: number;
  readonly held: number;
  readonly lost: number;
  readonly gained: number;
}

const noLoss: CanaryLoss = { asked: 0, held: 0, lost: 0, gained: 0 };

export function addLosses(losses: readonly CanaryLoss[]): CanaryLoss {
  return losses.reduce(
    (sum, { asked, held, lost, gained }) => ({
      asked: sum.asked + asked,
      held: sum.held + held,
      lost: sum.lost + lost,
      gained: sum.gained + gained,
    }),
    noLoss,
  );
}

/** Percentage points by which the share of passed canaries fell. `null` if base passed none. */
export function pointsLost({ asked, held, lost, gained }: CanaryLoss): number | null {
  return held === 0 ? null : (100 * (lost - gained)) / asked;
}

export type CanaryReport = Readonly<Record<CanaryKind, CanaryLoss>>;

export function reportOfKinds(of: (kind: CanaryKind) => CanaryLoss): CanaryReport {
  return {
    reading: of('reading'),
    facts: of('facts'),
    arithmetic: of('arithmetic'),
    small_talk: of('small_talk'),
    json: of('json'),
    tools: of('tools'),
  };
}

interface Canary {
  readonly kind: CanaryKind;
  /** The passage that a reading canary is about. */
  readonly passageId: string | null;
  readonly prompt: ChatPrompt;
  /** Whether a reply is in order. `base` is the model's reply without an adapter. */
  readonly passes: (reply: Reply, base: Reply) => boolean;
}

/** `nats` is how unlikely base finds the reply, see `WeighedReply`. Only small talk is judged by it. */
type Reply = GenerateResult & WeighedReply;

interface AskedCanary {
  readonly canary: Canary;
  /** The model's reply without an adapter, and whether it is in order. */
  readonly base: Reply;
  readonly isHeld: boolean;
}

/** Each asks about another passage, so that learning one passage leaves the others. */
const readingCanaries = 32;
/** Enough for a small JSON object. */
const maxReplyTokens = 64;

/** Probes of reading other passages, facts, sums, small talk, JSON and tools, with base's reply to each. */
export class Canaries {
  private constructor(
    private readonly engine: Engine,
    private readonly canaries: readonly AskedCanary[],
  ) {}

  /** Asks base everything once. */
  static async open(
    engine: Engine,
    passages: readonly PassageEntry[],
    prompts: Prompts,
    options: CallOptions,
  ): Promise<Canaries> {
    const all = [...readingOf(passages, prompts), ...facts, ...arithmetic, ...talk, ...json, ...tools];
    const replies = await mapConcurrently(all, (canary) => reply(engine, canary, null, options));
    const asked = all.flatMap((canary, index): AskedCanary[] => {
      const base = replies[index];
      return base === undefined ? [] : [{ canary, base, isHeld: canary.passes(base, base) }];
    });
    return new Canaries(engine, asked);
  }

  /** Leaves out the passages that the adapter has learned. */
  async check(adapter: AdapterReference, learned: ReadonlySet<string>, options: CallOptions): Promise<CanaryReport> {
    const chosen = this.canaries.filter(({ canary: { passageId } }) => passageId === null || !learned.has(passageId));
    const losses = await mapConcurrently(chosen, async ({ canary, base, isHeld }) => {
      const passes = canary.passes(await reply(this.engine, canary, adapter, options), base);
      const loss = {
        asked: 1,
        held: Number(isHeld),
        lost: Number(isHeld && !passes),
        gained: Number(!isHeld && passes),
      };
      return { kind: canary.kind, loss };
    });
    return reportOfKinds((wanted) => addLosses(losses.flatMap(({ kind, loss }) => (kind === wanted ? [loss] : []))));
  }
}

async function reply(
  engine: Engine,
  { kind, prompt }: Canary,
  adapter: AdapterReference | null,
  options: CallOptions,
): Promise<Reply> {
  const given = await engine.generate({ prompt, adapter, maxOutputTokens: maxReplyTokens, temperature: 0 }, options);
  return { ...given, nats: kind === 'small_talk' ? await natsToBase(engine, prompt, given.text, options) : 0 };
}

async function natsToBase(engine: Engine, prompt: ChatPrompt, text: string, options: CallOptions): Promise<number> {
  const sequence = await engine.encode(prompt, text, { markup: true });
  const [score] = await engine.score({ sequences: [sequence], adapter: null, topK: 0 }, options);
  return score === undefined ? Infinity : -mean(score.logprobs);
}

/** One question for each passage, a different one each time. Passages too long for one prompt are left out. */
function readingOf(passages: readonly PassageEntry[], prompts: Prompts): Canary[] {
  const short = passages.filter(({ passage }) => passage.length <= 1500);
  return spreadSample(short, readingCanaries).flatMap(({ id, passage, questions }, index): Canary[] => {
    const chosen = questions[(3 * index) % questions.length];
    if (chosen === undefined) return [];
    const asked = { question: chosen.phrasings[0] ?? '', answers: chosen.answers };
    const prompt = prompts.reading(passage, asked.question);
    return [{ kind: 'reading', passageId: id, prompt, passes: ({ text }) => isRight(asked, text) }];
  });
}

function said(content: string, given: readonly ToolDefinition[] = []): ChatPrompt {
  return { messages: [{ role: 'user', content }], thinking: false, ...(given.length === 0 ? {} : { tools: given }) };
}

const facts = knownFacts.map((task) => knownTask('facts', task));
const arithmetic = knownSums.map((task) => knownTask('arithmetic', task));

function knownTask(kind: CanaryKind, task: KnownTask): Canary {
  return { kind, passageId: null, prompt: said(task.question), passes: ({ text }) => isRight(task, text) };
}

const talk = smallTalk.map((exchange): Canary => ({
  kind: 'small_talk',
  passageId: null,
  prompt: said(exchange.remark),
  passes: (given, base) => endsAsBase(given, base) && isSensible(given, base, exchange),
}));

/** A model that is cut off where base is has not lost how to end. */
function endsAsBase(given: Reply, base: Reply): boolean {
  return given.finishReason === 'stop' || base.finishReason === 'length';
}

const json = objectTasks.map(([text, values]): Canary => ({
  kind: 'json',
  passageId: null,
  prompt: said(`${text} Answer only with a JSON object that has the keys ${Object.keys(values).join(', ')}.`),
  passes: (given) => {
    const object = jsonObjectOf(given.text);
    return object !== null && hasValues(object, values);
  },
}));

const functions: readonly ToolDefinition[] = [
  functionOf('get_weather', 'The weather in a city.', 'city'),
  functionOf('set_alarm', 'Sets an alarm clock.', 'time'),
  functionOf('send_message', 'Sends a message to a person.', 'recipient'),
];

const calls: readonly (readonly [text: string, name: string, values: ExpectedValues])[] = [
  ['What is the weather in Oslo?', 'get_weather', { city: ['Oslo'] }],
  ['Is it raining in Lisbon now?', 'get_weather', { city: ['Lisbon'] }],
  ['Wake me at 6:30.', 'set_alarm', { time: ['6:30', '6:30 am'] }],
  ['Set an alarm for 7 am, please.', 'set_alarm', { time: ['7 am', '7:00', '7:00 am'] }],
  ['Write to Anna that I am late.', 'send_message', { recipient: ['Anna'] }],
  ['Send a message to Peter.', 'send_message', { recipient: ['Peter'] }],
];

const tools = calls.map(([text, name, values]): Canary => ({
  kind: 'tools',
  passageId: null,
  prompt: said(text, functions),
  passes: ({ toolCalls: [call] }) => {
    const given = call?.name === name ? jsonObjectOf(call.arguments) : null;
    return given !== null && hasValues(given, values);
  },
}));

function functionOf(name: string, description: string, argument: string): ToolDefinition {
  const parameters = { type: 'object', properties: { [argument]: { type: 'string' } }, required: [argument] };
  return { name, description, parameters };
}
