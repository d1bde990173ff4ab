/** Whether a text says something to the model by the order of its words. */
import { spreadSample, type Prompts } from '@engraft/learning';
import {
  deriveSeed,
  isFunctionWord,
  mapConcurrently,
  mean,
  randomNumbers,
  shuffled,
  type Chunk,
  type MeteredCalls,
  type ScoreCall,
} from '@engraft/learning/parts';
import { rules } from '../rules.js';

/**
 * Nats a token by which the model finds prose likelier than the same words in random order. Words in random order give
 * about 0. The rules alone could teach "facts" of such a text, and answers that repeat them would pass.
 * `null` if nothing can be said, because there is no money to find out, or no prose. The words of a menu, a price list
 * or a changelog have an order that carries little, so lines of few words are left out. So are sentences that were
 * `told` of tables and lists, whose words stand where we put them.
 */
export async function orderNats(
  calls: MeteredCalls,
  chunks: readonly Chunk[],
  prompts: Prompts,
  share: number,
  told: ReadonlyMap<string, unknown> = new Map(),
): Promise<number | null> {
  const prose = chunks.map(({ text }) => withoutItems(text, told)).filter(isProse);
  const texts = spreadSample(prose, rules.orderChunks);
  const requests = await mapConcurrently(texts, (text) => readings(calls, prompts, [text, ...reorderings(text)]));
  const scores = await calls.score(requests.flat(), share);
  const nats = scores.map((score) => (score === null ? null : mean(score.logprobs)));
  const size = 1 + rules.orderShuffles;
  const gains = texts.flatMap((_, index) => {
    const [given, ...others] = nats.slice(index * size, (index + 1) * size);
    const known = others.filter((one) => one !== null);
    const isWhole = typeof given === 'number' && known.length === others.length;
    return isWhole ? [given - mean(known)] : [];
  });
  return gains.length === 0 ? null : mean(gains);
}

/** The text without items of lists and cells of tables. */
function withoutItems(text: string, told: ReadonlyMap<string, unknown>): string {
  const isProseLine = (line: string): boolean => {
    const words = wordsOf(line).length;
    return words === 0 || (words >= rules.minOrderLineWords && !told.has(line.trim()));
  };
  return text.split('\n').filter(isProseLine).join('\n');
}

/**
 * Whether a text has enough words, many function words (in small letters, since a text in capitals is read poorly in
 * any order) and few numbers.
 */
function isProse(text: string): boolean {
  const words = wordsOf(text);
  const share = (isOne: (word: string) => boolean): number => words.filter(isOne).length / words.length;
  return (
    words.length >= rules.minOrderWords &&
    share((word) => isFunctionWord(word.replace(/\P{L}/gu, ''))) >= rules.minOrderFunctionWords &&
    share((word) => /\p{N}/u.test(word)) <= rules.maxOrderNumbers
  );
}

/** The same text always gives the same orders, so that every job judges it alike. */
function reorderings(text: string): string[] {
  const random = randomNumbers(deriveSeed(0, 'order', text));
  return Array.from({ length: rules.orderShuffles }, () => shuffled(wordsOf(text), random).join(' '));
}

/** The texts as the model reads them. Each is scored where they differ, which leaves out the template around them. */
async function readings(calls: MeteredCalls, prompts: Prompts, texts: readonly string[]): Promise<ScoreCall[]> {
  const encoded = await mapConcurrently(texts, (text) => calls.engine.encode(prompts.reading(text, ''), ''));
  const read = encoded.map(({ tokens, targetStart }) => tokens.slice(0, targetStart));
  const before = sharedLength(read);
  const after = sharedLength(read.map((tokens) => tokens.slice(before).reverse()));
  return read.map((tokens) => ({
    sequence: { tokens: tokens.slice(0, tokens.length - after), targetStart: Math.max(1, before) },
    adapter: null,
    topK: 0,
  }));
}

/** How many tokens all of them begin with, without the last token of the shortest. */
function sharedLength(sequences: readonly (readonly number[])[]): number {
  const shortest = Math.min(...sequences.map(({ length }) => length));
  let shared = 0;
  while (shared < shortest - 1 && sequences.every((tokens) => tokens[shared] === sequences[0]?.[shared])) shared++;
  return shared;
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}
