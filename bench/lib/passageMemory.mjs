// The memory of the engine's processes while one passage is learned and a chat goes on in the same engine host.
import { startEngineHost } from '../../packages/engine/dist/index.js';
import { learnPassage } from '../../packages/learning/dist/index.js';
import { watchEngine } from './engineWatch.mjs';
import { learningMethodOf } from './learningMethod.mjs';

const replyTokens = 64;
/** Turns of a conversation, before another begins. */
const turns = 4;
const questions = ['What is this about?', 'Tell me more.', 'What else should I know?', 'Say it in one sentence.'];

/**
 * @param {{ modelDir: string, threads: number, input: object, onProgress: (progress: object) => void }} plan `input`:
 *   of `learnPassage`, but for the method
 */
export async function measureMemory({ modelDir, threads, input, onProgress }) {
  const engine = await startEngineHost({ modelDir, threads });
  const watch = watchEngine(engine);
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

/** One reply after the other, until it is stopped. */
function startChat(engine, passage) {
  let isStopped = false;
  let replies = 0;
  const goOn = async () => {
    for (let messages = []; !isStopped; replies += 1) {
      const turn = replies % turns;
      if (turn === 0) messages = [{ role: 'system', content: passage }];
      messages.push({ role: 'user', content: questions[turn] });
      const request = { prompt: { messages }, adapter: null, maxOutputTokens: replyTokens, temperature: 0 };
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
