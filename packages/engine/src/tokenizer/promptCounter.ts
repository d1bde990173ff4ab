import { ThreadCalls } from '../support/threadCalls.js';
import type { ChatPrompt } from '../types.js';

/**
 * Counts the tokens of prompts in a thread of its own. A long prompt takes a fifth of a second, during which a process
 * that serves HTTP could answer nobody. Needs only the small files of a checkpoint. Keeps no process alive.
 */
export class PromptCounter {
  private readonly calls: ThreadCalls<ChatPrompt | null, number>;

  private constructor(modelDir: string) {
    const entry = new URL('./promptCounterThread.js', import.meta.url);
    this.calls = new ThreadCalls(entry, 'the thread that counts tokens', modelDir);
  }

  /** @throws EngineError `checkpoint_invalid` */
  static async open(modelDir: string): Promise<PromptCounter> {
    const counter = new PromptCounter(modelDir);
    await counter.calls.call(null);
    return counter;
  }

  /** @throws EngineError as `ChatTokenizer.countTokens` */
  countTokens(prompt: ChatPrompt): Promise<number> {
    return this.calls.call(prompt);
  }

  close(): Promise<void> {
    return this.calls.close();
  }
}
