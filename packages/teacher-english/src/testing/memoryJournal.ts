import assert from 'node:assert/strict';
import type { LearningJournal, LearningPhase, LearningUsage } from '@engraft/learning';
import { addUsage, noUsage } from '@engraft/learning/parts';

/** Keeps outcomes as JSON, as a database would, and dies after storing one phase if told to. */
export class MemoryJournal implements LearningJournal {
  readonly stored = new Map<LearningPhase, { text: string; usage: LearningUsage }>();
  dieAfter: LearningPhase | null = null;

  load(phase: LearningPhase): Promise<unknown> {
    const entry = this.stored.get(phase);
    return Promise.resolve(entry === undefined ? null : (JSON.parse(entry.text) as unknown));
  }

  store(phase: LearningPhase, outcome: unknown, usage: LearningUsage): Promise<void> {
    assert.ok(!this.stored.has(phase), `${phase} is stored once`);
    this.stored.set(phase, { text: JSON.stringify(outcome), usage });
    return this.dieAfter === phase ? Promise.reject(new Error('crash')) : Promise.resolve();
  }

  entered(phase: LearningPhase): Promise<void> {
    assert.ok(!this.stored.has(phase), `${phase} is not entered again`);
    return Promise.resolve();
  }

  get usage(): LearningUsage {
    return [...this.stored.values()].map(({ usage }) => usage).reduce(addUsage, noUsage);
  }
}
