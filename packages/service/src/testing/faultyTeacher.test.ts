import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { it } from 'node:test';
import { answerWith, startFaultyTeacher } from './faultyTeacher.js';

it('takes the request of a caller that dies within it for nothing', async () => {
  const teacher = await startFaultyTeacher(answerWith('1. Which is stone 0?'));
  const unhandled: unknown[] = [];
  const note = (error: unknown): number => unhandled.push(error);
  process.on('unhandledRejection', note);
  const caller = net.connect(Number(new URL(teacher.url).port), '127.0.0.1');
  caller.end('POST /v1/chat/completions HTTP/1.1\r\nHost: teacher\r\nContent-Length: 1000\r\n\r\n{"model":');
  caller.resume();
  await once(caller, 'close');
  await teacher.stop();
  process.off('unhandledRejection', note);
  assert.deepEqual([unhandled, teacher.requests], [[], []]);
});
