import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FullQueues } from './fullQueues.js';

function queuesAt(): { queues: FullQueues; pass: (ms: number) => void } {
  let nowMs = 5_000;
  return { queues: new FullQueues(() => nowMs), pass: (ms) => (nowMs += ms) };
}

test('a queue that was found full is looked at again by one request, and the others are refused meanwhile', () => {
  const { queues, pass } = queuesAt();
  assert.equal(queues.find('one'), null, 'nothing is known');
  queues.found('project_queue_full', 'one');
  assert.equal(queues.find('one'), 'project_queue_full');
  assert.equal(queues.find('another'), null);
  pass(100);
  assert.equal(queues.find('one'), null, 'the one that looks');
  assert.equal(queues.find('one'), 'project_queue_full');
  pass(100);
  assert.equal(queues.find('one'), null, 'that one has found nothing out');
});

test('a queue that was found full long ago is known no more, and nobody is refused', () => {
  const { queues, pass } = queuesAt();
  queues.found('project_queue_full', 'one');
  queues.found('service_queue_full', 'one');
  pass(200);
  assert.deepEqual([queues.find('one'), queues.find('one'), queues.find('another')], [null, null, null]);
});

test('whether any queue is full is known as long as it was found full', () => {
  const { queues, pass } = queuesAt();
  assert.equal(queues.isAnyFull(), false);
  queues.found('project_queue_full', 'one');
  assert.equal(queues.isAnyFull(), true);
  pass(100);
  assert.equal(queues.isAnyFull(), false);
});

test('where one has found room, all may look', () => {
  const { queues, pass } = queuesAt();
  queues.found('project_queue_full', 'one');
  pass(100);
  assert.equal(queues.find('one'), null);
  queues.foundRoom('one');
  assert.deepEqual([queues.find('one'), queues.find('one')], [null, null]);
});

test('the queue of the service is full for every project', () => {
  const { queues, pass } = queuesAt();
  queues.found('service_queue_full', 'one');
  assert.equal(queues.find('another'), 'service_queue_full');
  pass(100);
  assert.deepEqual([queues.find('another'), queues.find('one')], [null, 'service_queue_full']);
  queues.foundRoom('another');
  assert.equal(queues.find('one'), null);
});
