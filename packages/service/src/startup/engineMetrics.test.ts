import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineExit, EngineStart } from '@engraft/engine';
import { Registry } from 'prom-client';
import { watchEngine } from './engineMetrics.js';

/** A fault injector: in place of a host, one whose processes end and start as a test says. */
class ScriptedHost {
  responsive = true;
  readonly #exits: ((exit: EngineExit) => void)[] = [];
  readonly #starts: ((start: EngineStart) => void)[] = [];

  onExit(listener: (exit: EngineExit) => void): () => void {
    this.#exits.push(listener);
    return () => undefined;
  }

  onStart(listener: (start: EngineStart) => void): () => void {
    this.#starts.push(listener);
    return () => undefined;
  }

  lose(purpose: EngineExit['purpose'], reason: EngineExit['reason']): void {
    for (const listener of this.#exits) listener({ pid: 1, code: null, signal: 'SIGKILL', purpose, reason });
  }

  start(purpose: EngineStart['purpose']): void {
    for (const listener of this.#starts) listener({ pid: 2, purpose });
  }
}

test('restarts are of the engine that serves; losses are told by what was lost and why', async () => {
  const host = new ScriptedHost();
  const registry = new Registry();
  watchEngine(host, registry);
  const read = async (series: string): Promise<string | undefined> =>
    (await registry.metrics()).split('\n').find((line) => line.startsWith(`${series} `));
  const stalled = 'engraft_engine_losses_total{purpose="serving",reason="stalled"}';
  assert.equal(await read(stalled), `${stalled} 0`, 'so that the first one is an increase');
  assert.equal(await read('engraft_engine_responsive'), 'engraft_engine_responsive 1');
  host.start('training');
  host.lose('training', 'exited');
  host.lose('serving', 'stalled');
  host.responsive = false;
  assert.equal(await read(stalled), `${stalled} 1`);
  assert.equal(await read('engraft_engine_responsive'), 'engraft_engine_responsive 0');
  assert.equal(await read('engraft_engine_restarts_total'), 'engraft_engine_restarts_total 0');
  host.start('serving');
  assert.equal(await read('engraft_engine_restarts_total'), 'engraft_engine_restarts_total 1');
});
