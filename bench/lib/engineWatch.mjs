// What the processes of an engine host take, looked at again and again, as a training's own is gone when it ends.
import { cpuSeconds, memoryBytes } from './processFigures.mjs';

const sampleMs = 50;

/** @param {import('../../packages/engine/dist/index.js').EngineHost} engine */
export function watchEngine(engine) {
  const processes = new Map();
  let together = 0;
  const look = () => {
    const serving = [[engine.pid, 'serving']];
    const all = [...serving, ...engine.trainingPids.map((pid) => [pid, 'training'])];
    let resident = 0;
    for (const [pid, purpose] of all) {
      const memory = memoryBytes(pid);
      if (memory === null) continue;
      resident += memory.resident;
      processes.set(pid, { purpose, peak_gb: memory.peak / 1e9, cpu_seconds: cpuSeconds(pid) });
    }
    together = Math.max(together, resident);
  };
  const timer = setInterval(look, sampleMs);
  return {
    figures: () => {
      look();
      return watchedFigures([...processes.values()], together);
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * The sum of the processes' own peaks, which need not have been at one time, the most that they had together, and the
 * processor time of all trainings.
 * @param {{ purpose: 'serving' | 'training', peak_gb: number, cpu_seconds: number }[]} processes
 */
export function watchedFigures(processes, togetherBytes) {
  if (processes.length === 0) throw new Error('the memory of a process is read from /proc, which only Linux has');
  const trainings = processes.filter(({ purpose }) => purpose === 'training');
  const peakOf = (some) => Math.max(0, ...some.map(({ peak_gb }) => peak_gb));
  const servingGb = peakOf(processes.filter(({ purpose }) => purpose === 'serving'));
  const trainingGb = peakOf(trainings);
  return {
    serving_gb: servingGb,
    training_gb: trainingGb,
    sum_gb: servingGb + trainingGb,
    together_gb: togetherBytes / 1e9,
    training_cpu_seconds: trainings.reduce((sum, { cpu_seconds }) => sum + cpu_seconds, 0),
  };
}
