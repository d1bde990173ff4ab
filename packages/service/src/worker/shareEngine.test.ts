import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Engine, EngineError, type GenerateRequest, type GenerateResult } from '@engraft/engine';
import { pino } from 'pino';
import { scriptedEngine } from '../testing/scriptedEngine.js';
import { withEngineRetries } from './engineRetries.js';
import { shareEngine } from './shareEngine.js';

const logger = pino({ level: 'silent' });
const never = new AbortController().signal;

function requestOf(content: string): GenerateRequest {
  return {
    prompt: { messages: [{ role: 'user', content }] },
    adapter: null,
    maxOutputTokens: 1,
    temperature: 0,
    seed: 1,
    isolationKey: 'test',
  };
}

interface Call {
  readonly content: string;
  readonly end: (outcome: 'answered' | 'lost') => void;
}

/** A fault injector: an engine whose calls end when they are told, or are all lost at once. */
function fragileEngine() {
  const inside: Call[] = [];
  const engine = scriptedEngine(
    ({ prompt }) =>
      new Promise((resolve, reject) => {
        const content = prompt.messages.at(-1)?.content ?? '';
        const call: Call = {
          content,
          end: (outcome) => {
            inside.splice(inside.indexOf(call), 1);
            if (outcome === 'answered') resolve({ text: content });
            else reject(new EngineError('process_lost', 'the process died'));
          },
        };
        inside.push(call);
      }),
  );
  return { engine, inside, names: () => inside.map(({ content }) => content) };
}

const run = (engine: Engine, content: string): Promise<GenerateResult> =>
  withEngineRetries(() => engine.generate(requestOf(content)), never, logger);

/** Waits until only the passing of time could make anything happen. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const until = async (reached: () => boolean): Promise<void> => {
  while (!reached()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('an engine that is shared', () => {
  it('loses bystanders once to a call that kills it, which is alone from then on', async () => {
    const { engine, inside, names } = fragileEngine();
    const forJob = shareEngine(engine);
    const contents = ['one', 'killer', 'two', 'three'];
    const outcomes = contents.map((content) => run(forJob(false), content).catch((error: unknown) => error));
    await settle();
    assert.deepEqual(names(), contents, 'side by side');
    for (const call of [...inside]) call.end('lost');
    const lost: string[] = [];
    let haveAllEnded = false;
    void Promise.all(outcomes).then(() => (haveAllEnded = true));
    for (;;) {
      await until(() => haveAllEnded || inside.length > 0);
      await settle();
      const [call, ...others] = inside;
      if (call === undefined) break;
      assert.deepEqual(others, [], 'each is alone');
      if (call.content === 'killer') lost.push(call.content);
      call.end(call.content === 'killer' ? 'lost' : 'answered');
    }
    assert.deepEqual(lost, ['killer', 'killer']);
    const ended = await Promise.all(outcomes);
    assert.ok(ended[1] instanceof EngineError && ended[1].code === 'process_lost');
    assert.deepEqual(
      [0, 2, 3].map((index) => (ended[index] as GenerateResult).text),
      ['one', 'two', 'three'],
    );
  });

  it('gives turns in their order, and none to a call that was aborted while it waited', async () => {
    const { engine, inside, names } = fragileEngine();
    const forJob = shareEngine(engine);
    const [shared, suspect] = [forJob(false), forJob(true)];
    const first = shared.generate(requestOf('first'));
    const aborting = new AbortController();
    const aborted = suspect.generate(requestOf('aborted'), { signal: aborting.signal });
    const alone = suspect.generate(requestOf('alone'));
    const last = [shared.generate(requestOf('last')), shared.generate(requestOf('very last'))];
    await settle();
    assert.deepEqual(names(), ['first'], 'nobody overtakes what waits to be alone');
    aborting.abort();
    await assert.rejects(aborted, { code: 'cancelled' });
    inside[0]?.end('answered');
    await first;
    await settle();
    assert.deepEqual(names(), ['alone']);
    inside[0]?.end('answered');
    await alone;
    await settle();
    assert.deepEqual(names(), ['last', 'very last'], 'the others are side by side again');
    for (const call of [...inside]) call.end('answered');
    await Promise.all(last);
    await assert.rejects(shared.generate(requestOf('late'), { signal: AbortSignal.abort() }), { code: 'cancelled' });
  });
});
