import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { openLogOutput } from './logOutput.js';

/** A reader as bad as it is told to be: a fault injector. */
class ScriptedReader extends Writable {
  readonly lines: string[] = [];
  #waiting: { line: string; done: (error?: Error) => void } | null = null;

  constructor() {
    super({ decodeStrings: false, autoDestroy: false });
  }

  override _write(line: string, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#waiting = { line, done };
  }

  async take(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) this.lines.push(waiting.line);
    waiting?.done();
    await nextTurn();
  }

  async takeAll(): Promise<void> {
    while (this.#waiting !== null) await this.take();
  }
}

describe('the output of the log', () => {
  it('drops what is beyond the bound, in one gap, and says how much when half of it has been read', async () => {
    const reader = new ScriptedReader();
    const output = openLogOutput(reader, { maxWaitingUnits: 40, onResumed: (n) => output.write(`gap of ${n}....`) });
    for (let n = 0; n < 6; n += 1) output.write(`line ${n}...`);
    assert.equal(output.droppedLines(), 2);
    await reader.take();
    output.write('still gone');
    assert.equal(output.droppedLines(), 3);
    await reader.take();
    output.write('and on....');
    await reader.takeAll();
    const whole = ['line 0...', 'line 1...', 'line 2...', 'line 3...', 'gap of 3....', 'and on....'];
    assert.deepEqual(reader.lines, whole);
  });

  it('takes a line that is longer than the bound when none waits', async () => {
    const reader = new ScriptedReader();
    const output = openLogOutput(reader, { maxWaitingUnits: 10, onResumed: () => undefined });
    output.write('a line that is longer');
    await reader.takeAll();
    assert.deepEqual([reader.lines, output.droppedLines()], [['a line that is longer'], 0]);
  });

  it('keeps the order, loses nothing uncounted, and never holds more than the bound', async () => {
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: fc.nat(30) }, fc.constant('take' as const)));
    const check = async (given: readonly (number | 'take')[], maxWaitingUnits: number): Promise<void> => {
      const reader = new ScriptedReader();
      let toldLines = 0;
      const output = openLogOutput(reader, { maxWaitingUnits, onResumed: (lines) => (toldLines += lines) });
      const written: string[] = [];
      for (const step of given) {
        if (step === 'take') await reader.take();
        else {
          written.push(`${written.length} ${'x'.repeat(step)}`);
          output.write(written.at(-1) ?? '');
        }
        const longest = Math.max(maxWaitingUnits, ...written.map((line) => line.length));
        assert.ok(reader.writableLength <= longest);
      }
      await reader.takeAll();
      assert.equal(reader.lines.length + output.droppedLines(), written.length);
      assert.equal(toldLines, output.droppedLines());
      assert.deepEqual(
        reader.lines,
        written.filter((line) => reader.lines.includes(line)),
      );
    };
    await fc.assert(fc.asyncProperty(steps, fc.nat(200), check));
  });
});
