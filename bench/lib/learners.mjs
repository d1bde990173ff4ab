// Processes that learn and measure passages side by side, each with an engine of its own.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Opening the canaries of a task takes seconds, so passages are handed out several at a time. */
const passagesATask = 10;

/** @param {{ modelDir: string, threads: number, processes: number }} options threads are those of each process */
export function startLearners({ modelDir, threads, processes }) {
  const file = fileURLToPath(new URL('learnerProcess.mjs', import.meta.url));
  const learners = Array.from({ length: processes }, () => fork(file, [modelDir, String(threads)]));
  return {
    /**
     * The reports of each work's passages, in their order. Work with a chain is one task; work that is named first
     * begins first. Passages are those of a set of bench/learning, or else given.
     * @param {{ set?: string, passages?: object[], ids: string[], options: object, onReport: (report: object) => void
     * }[]} works
     */
    async measure(works) {
      const tasks = works.flatMap((work, index) => slices(work).map((ids) => ({ ...work, ids, index, reports: [] })));
      const left = [...tasks];
      const workOff = async (learner) => {
        for (let task = left.shift(); task !== undefined; task = left.shift()) task.reports = await ask(learner, task);
      };
      await Promise.all(learners.map(workOff));
      return works.map((_, index) => tasks.filter((task) => task.index === index).flatMap(({ reports }) => reports));
    },
    /** Resolves when their engines have ended, too. */
    close: () => Promise.all(learners.map(end)),
  };
}

function slices({ ids, options: { chainLength } }) {
  const size = chainLength > 1 ? ids.length : passagesATask;
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, index) =>
    ids.slice(index * size, (index + 1) * size),
  );
}

function end(learner) {
  return new Promise((resolve) => {
    learner.once('exit', resolve);
    learner.disconnect();
  });
}

function ask(learner, { set, passages, ids, options, onReport }) {
  return new Promise((resolve, reject) => {
    const ended = (code) => new Error(`a process that was to measure ${ids.join(', ')} ended with ${code}`);
    const gone = learner.exitCode ?? learner.signalCode;
    if (gone !== null) {
      reject(ended(gone));
      return;
    }
    const finish = (settle, value) => {
      learner.off('message', onMessage);
      learner.off('exit', onExit);
      settle(value);
    };
    const onMessage = ({ report, reports }) => (reports === undefined ? onReport(report) : finish(resolve, reports));
    const onExit = (code, signal) => finish(reject, ended(code ?? signal));
    learner.on('message', onMessage);
    learner.on('exit', onExit);
    learner.send({ set, passages, ids, options });
  });
}
