import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { RemoteOutcome, RemoteRequest } from '@engraft/learning';
import { answerWith, dieInTheMiddle, honestUsage, refuseWith } from '../testing/faultyTeacher.js';
import { startFaultyTeacher, type FaultyTeacher } from '../testing/faultyTeacher.js';
import { openTeacherServer, type TeacherLimits } from './teacherServer.js';

const apiKey = 'sk-a-secret-key';
const request: RemoteRequest = {
  messages: [{ role: 'user', content: 'A secret passage.' }],
  maxTokens: 50,
  temperature: 0,
  seed: 7,
};
const quick: Partial<TeacherLimits> = { response_ms: 2_000, graceMs: 50, firstDelayMs: 1, maxDelayMs: 20 };

/** A real server that misbehaves: a fault injector. */
describe('a teacher elsewhere over HTTP', () => {
  let teacher: FaultyTeacher;
  before(async () => {
    teacher = await startFaultyTeacher(answerWith('Q: ?'));
  });
  beforeEach(() => {
    teacher.requests.length = 0;
  });
  after(() => teacher.stop());

  async function ask(limits: Partial<TeacherLimits> = {}, signal?: AbortSignal): Promise<RemoteOutcome> {
    const server = openTeacherServer({ url: teacher.url, model: 'large', apiKey }, { ...quick, ...limits });
    const outcome = await server.ask(request, signal);
    const said = JSON.stringify(outcome);
    for (const secret of [apiKey, 'passage', 'a secret of the server']) assert.ok(!said.includes(secret), said);
    return outcome;
  }

  /** The kind of the outcome, and how many requests were made for it. */
  async function outcomeOf(reply: FaultyTeacher['reply'], limits: Partial<TeacherLimits> = {}) {
    teacher.requests.length = 0;
    teacher.reply = reply;
    return [(await ask(limits)).kind, teacher.requests.length];
  }

  it('is asked with its model and key, and answers with a text and a receipt', async () => {
    teacher.reply = answerWith('A text.', { ...honestUsage, prompt_tokens_details: { cached_tokens: 20 } });
    const usage = { inputTokens: 120, outputTokens: 40, cachedInputTokens: 20 };
    assert.deepEqual(await ask(), { kind: 'answered', text: 'A text.', usage });
    const [{ path, authorization, model, max_tokens } = assert.fail()] = teacher.requests;
    assert.deepEqual(
      [path, authorization, model, max_tokens],
      ['/v1/chat/completions', `Bearer ${apiKey}`, 'large', 50],
    );
  });

  it('may answer with nothing at all: it is paid all the same', async () => {
    const usage = { inputTokens: 120, outputTokens: 40, cachedInputTokens: 0 };
    for (const body of [{ choices: [] }, {}, { choices: [{ message: { content: null } }] }, { choices: 'none' }]) {
      teacher.reply = (response) => response.end(JSON.stringify({ ...body, usage: honestUsage }));
      assert.deepEqual(await ask(), { kind: 'answered', text: '', usage }, JSON.stringify(body));
    }
  });

  it('is not asked twice when an answer has no receipt', async () => {
    teacher.reply = answerWith('A text.', null);
    assert.deepEqual(await ask(), { kind: 'receipt_missing', reason: 'it answered without usage' });
    assert.deepEqual(await outcomeOf(answerWith('A text.', null)), ['receipt_missing', 1]);
    for (const body of ['', 'null', '[]', '{"choices": [', '<html>', '{"usage": null}']) {
      assert.deepEqual(await outcomeOf((response) => response.end(body)), ['receipt_missing', 1], body);
    }
  });

  it('is not believed when its receipt contradicts itself or what was asked', async () => {
    for (const wrong of [
      { prompt_tokens: 0, total_tokens: 40 },
      { prompt_tokens: -120, total_tokens: -80 },
      { prompt_tokens: 120.5, total_tokens: 160.5 },
      { prompt_tokens: '120' },
      { total_tokens: 161 },
      { total_tokens: undefined },
      { completion_tokens: 51, total_tokens: 171 },
      { completion_tokens: 1e300, total_tokens: 1e300 },
      { prompt_tokens_details: { cached_tokens: 121 } },
    ]) {
      const usage = { ...honestUsage, ...wrong };
      assert.deepEqual(await outcomeOf(answerWith('', usage)), ['receipt_inconsistent', 1], JSON.stringify(wrong));
    }
    assert.deepEqual(await outcomeOf((response) => response.end('{"usage": 5}')), ['receipt_inconsistent', 1]);
  });

  it('is not asked twice when nobody knows whether it answered', async () => {
    assert.deepEqual(await outcomeOf(dieInTheMiddle), ['receipt_missing', 1]);
    assert.deepEqual(await outcomeOf((response) => response.destroy()), ['receipt_missing', 1]);
    assert.deepEqual(await outcomeOf(() => undefined, { response_ms: 100 }), ['receipt_missing', 1], 'it stalls');
    assert.deepEqual(await outcomeOf(answerWith('x'.repeat(5_000)), { responseBytes: 4_000 }), ['receipt_missing', 1]);
    for (const status of [408, 409, 500, 502, 504]) {
      assert.deepEqual(await outcomeOf(refuseWith(status)), ['receipt_missing', 1], String(status));
    }
  });

  it('is not asked twice when it refuses for good, nor followed elsewhere', async () => {
    for (const status of [400, 401, 402, 403, 404, 422]) {
      assert.deepEqual(await outcomeOf(refuseWith(status)), ['not_executed', 1], String(status));
    }
    assert.deepEqual(await outcomeOf(refuseWith(307, { location: `${teacher.url}/chat/completions` })), [
      'not_executed',
      1,
    ]);
    teacher.reply = refuseWith(401);
    assert.match(JSON.stringify(await ask()), /status 401: ENGRAFT_TEACHER_API_KEY is missing or wrong/);
  });

  it('is asked again, a bounded number of times, when it has no room', async () => {
    for (const status of [429, 503]) {
      const fineLater: FaultyTeacher['reply'] = (response, asked) => {
        const reply = teacher.requests.length < 3 ? refuseWith(status, { 'retry-after': '1' }) : answerWith('Now.');
        reply(response, asked);
      };
      assert.deepEqual(await outcomeOf(fineLater), ['answered', 3]);
      assert.deepEqual(await outcomeOf(refuseWith(status), { attempts: 4 }), ['not_executed', 4]);
    }
  });

  it('is not executed where it cannot be reached', async () => {
    const gone = await startFaultyTeacher(answerWith(''));
    await gone.stop();
    for (const url of [gone.url, 'http://no-such-host.invalid/v1', teacher.url.replace('http:', 'https:')]) {
      const server = openTeacherServer({ url, model: 'large', apiKey }, { ...quick, attempts: 2 });
      assert.equal((await server.ask(request)).kind, 'not_executed', url);
    }
    assert.equal(teacher.requests.length, 0);
  });

  it('is not asked when the worker stops, and waited for a moment when it was', async () => {
    assert.equal((await ask({}, AbortSignal.abort())).kind, 'not_executed');
    assert.equal(teacher.requests.length, 0);
    const stopping = new AbortController();
    teacher.reply = () => stopping.abort();
    assert.equal((await ask({}, stopping.signal)).kind, 'receipt_missing', 'it does not answer in time');
    const again = new AbortController();
    teacher.reply = (response, asked) => {
      again.abort();
      answerWith('Just in time.')(response, asked);
    };
    assert.equal((await ask({ graceMs: 5_000 }, again.signal)).kind, 'answered');
  });

  it('is asked so many things at once, and no more', async () => {
    let underWay = 0;
    let most = 0;
    teacher.reply = (response, asked) => {
      most = Math.max(most, ++underWay);
      setTimeout(() => {
        underWay -= 1;
        answerWith('A text.')(response, asked);
      }, 20);
    };
    const config = { url: teacher.url, model: 'large', apiKey: null };
    const server = openTeacherServer(config, { ...quick, concurrency: 3 });
    const outcomes = await Promise.all(Array.from({ length: 9 }, () => server.ask(request)));
    assert.ok(outcomes.every(({ kind }) => kind === 'answered'));
    assert.deepEqual([most, teacher.requests.length, teacher.requests[0]?.authorization], [3, 9, undefined]);
  });
});
