// What learning one passage takes, in time, money and memory, in an engine of its own.
import { readFileSync } from 'node:fs';
import { startEngineHost } from '../../packages/engine/dist/index.js';
import { measurePassages } from '../../packages/evaluation/dist/index.js';
import { learningMethodOf } from './learningMethod.mjs';

/** The engine's own use of time and memory is known on Linux only. */
export async function timePassage(entry, { modelDir, threads, budget }) {
  const cpuBefore = childrenCpuSeconds();
  const engine = await startEngineHost({ modelDir, threads });
  let peakKib = 0;
  const watch = setInterval(() => (peakKib = Math.max(peakKib, childrenKib(process.pid))), 100);
  try {
    const method = await learningMethodOf(engine, modelDir);
    const options = { budget, method, seed: 1, gold: false, chainLength: 1, askBase: true };
    const [report] = await measurePassages(engine, [entry], options);
    const cpuAfter = childrenCpuSeconds();
    const { id, chars, verdict, seconds, phase_seconds, cost_microusd, reading, learned, fact_count } = report;
    const timing = { id, chars, verdict, seconds, phase_seconds, cost_microusd, fact_count, reading, learned };
    return {
      ...timing,
      engine_cpu_seconds: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore,
      peak_mib: peakKib === 0 ? null : Math.round(peakKib / 1024),
    };
  } finally {
    clearInterval(watch);
    await engine.close();
  }
}

/**
 * The resident sets of all processes below one, which the engine's and the trainer's are, in KiB; 0 where /proc is
 * missing.
 */
function childrenKib(pid) {
  try {
    return childrenOf(pid).reduce((sum, child) => {
      const own = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child}/status`, 'utf8'))?.[1];
      return sum + Number(own ?? 0) + childrenKib(child);
    }, 0);
  } catch {
    return 0;
  }
}

function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}

/**
 * User and system time of this process's children, those included that have ended; on a busy machine it says more than
 * the clock.
 */
function childrenCpuSeconds() {
  try {
    const own = ticksOf(process.pid);
    const alive = childrenOf(process.pid).map((child) => ticksOf(child));
    return alive.reduce((sum, { used, ofEnded }) => sum + used + ofEnded, own.ofEnded) / 100;
  } catch {
    return null;
  }
}

/** CPU time of a process and of its children that have ended, in hundredths of a second. */
function ticksOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ').map(Number);
  return { used: fields[11] + fields[12], ofEnded: fields[13] + fields[14] };
}
