// The memory of the engine's processes while one passage is learned and a chat goes on in the same engine host.
import { startEngineHost } from '../../packages/engine/dist/index.js';
import { learnPassage } from '../../packages/learning/dist/index.js';
import { learningMethodOf } from './learningMethod.mjs';
import { memoryBytes } from './processFigures.mjs';

const SAMPLE_MS = 50;
const REPLY_TOKENS = 64;
/** Turns of a conversation, before another begins. */
const TURNS = 4;
const QUESTIONS = ['What is this about?', 'Tell me more.', 'What else should I know?', 'Say it in one sentence.'];

/**
 * @param {{ modelDir: string, threads: number, input: object, onProgress: (progress: object) => void }} plan `input`:
 *   of `learnPassage`, but for the method
 */
export async function measureMemory({ modelDir, threads, input, onProgress }) {
  const engine = await startEngineHost({ modelDir, threads });
  const watch = watchMemory(engine);
  try {
    const method = await learningMethodOf(engine, modelDir);
    const chat = startChat(engine, input.content);
    const { kind } = await learnPassage(engine, { ...input, ...method }, noJournal, { onProgress });
    return { ...watch.figures(), verdict: kind, replies: await chat.stop() };
  } finally {
    watch.stop();
    await engine.close();
  }
}

const noJournal = { load: async () => null, entered: async () => {}, store: async () => {} };

/** Looks at the processes again and again, as a training's own is gone when the passage is learned. */
function watchMemory(engine) {
  const peaks = new Map();
  let together = 0;
  const look = () => {
    const serving = [[engine.pid, 'serving']];
    const processes = [...serving, ...engine.trainingPids.map((pid) => [pid, 'training'])];
    let resident = 0;
    for (const [pid, purpose] of processes) {
      const memory = memoryBytes(pid);
      if (memory === null) continue;
      resident += memory.resident;
      peaks.set(pid, { purpose, peak_gb: memory.peak / 1e9 });
    }
    together = Math.max(together, resident);
  };
  const timer = setInterval(look, SAMPLE_MS);
  return {
    figures: () => {
      look();
      return memoryFigures([...peaks.values()], together);
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * The sum of the processes' own peaks, which need not have been at one time, and the most that they had together.
 * @param {{ purpose: 'serving' | 'training', peak_gb: number }[]} processes
 */
export function memoryFigures(processes, togetherBytes) {
  if (processes.length === 0) throw new Error('the memory of a process is read from /proc, which only Linux has');
  const peakOf = (wanted) =>
    Math.max(0, ...processes.filter(({ purpose }) => purpose === wanted).map(({ peak_gb }) => peak_gb));
  const [serving_gb, training_gb] = [peakOf('serving'), peakOf('training')];
  return { serving_gb, training_gb, sum_gb: serving_gb + training_gb, together_gb: togetherBytes / 1e9 };
}

/** One reply after the other, until it is stopped. */
function startChat(engine, passage) {
  let isStopped = false;
  let replies = 0;
  const goOn = async () => {
    for (let messages = []; !isStopped; replies += 1) {
      const turn = replies % TURNS;
      if (turn === 0) messages = [{ role: 'system', content: passage }];
      messages.push({ role: 'user', content: QUESTIONS[turn] });
      const request = { prompt: { messages }, adapter: null, maxOutputTokens: REPLY_TOKENS, temperature: 0 };
      const { text } = await engine.generate(request);
      messages.push({ role: 'assistant', content: text });
    }
  };
  const chatting = goOn();
  return {
    stop: async () => {
      isStopped = true;
      await chatting;
      return replies;
    },
  };
}
