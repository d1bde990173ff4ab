/**
 * Replay for a checkpoint that comes without rows: the model's own replies to prompts of many kinds. Training should
 * keep the model's own way of speaking (`baseTargets.ts`), so its outputs can stand for the data it was trained on (Li
 * and Hoiem, Learning without Forgetting, arXiv:1606.09282).
 */
import type { ChatPrompt, Engine } from '@engraft/engine';
import { mapConcurrently } from '../budget/calls.js';
import type { Prompts } from '../recipe/prompts.js';
import type { Recipe } from '../recipe/recipe.js';
import type { ReplayRow } from '../types.js';

/** The rows shipped beside the checkpoint, or else the model's own replies. */
export async function replayOf(
  engine: Engine,
  shipped: readonly ReplayRow[],
  recipe: Recipe,
): Promise<readonly ReplayRow[]> {
  return shipped.length > 0 ? shipped : ownReplay(engine, recipe);
}

/**
 * Greedy, so that the same model gives the same rows. A reply that is cut off does not show how the model ends one, and
 * is left out.
 */
async function ownReplay(engine: Engine, recipe: Recipe): Promise<ReplayRow[]> {
  // The gate asks for no longer replies.
  const { maxReplyTokens } = recipe.evaluating;
  const rows = await mapConcurrently(askedOf(recipe.prompts), async ({ prompt, expected }): Promise<ReplayRow[]> => {
    const request = { prompt, adapter: null, maxOutputTokens: maxReplyTokens, temperature: 0 };
    const { text, finishReason } = await engine.generate(request);
    const isWhole = finishReason === 'stop' && text.trim() !== '';
    const messages = [...prompt.messages, { role: 'assistant', content: text } as const];
    return isWhole ? [{ messages, ...(expected === undefined ? {} : { expected: [expected] }) }] : [];
  });
  return rows.flat();
}

interface Asked {
  readonly prompt: ChatPrompt;
  /** What a right reply contains, if there is one. */
  readonly expected?: string;
}

function askedOf(prompts: Prompts): Asked[] {
  return [
    ...remarks.map((remark) => ({ prompt: prompts.closedBook(remark) })),
    ...wellKnown.map(([question, expected]) => ({ prompt: prompts.closedBook(question), expected })),
    ...questions.map((question) => ({ prompt: prompts.rephrase(question, null) })),
    ...readings.map(([passage, question, expected]) => ({ prompt: prompts.reading(passage, question), expected })),
    ...askings.map(([passage, answer]) => ({ prompt: prompts.ask(passage, answer) })),
  ];
}

const remarks = [
  ...['Good afternoon!', 'Hey.', 'How is your day?', 'Thanks a lot for that.', 'I have to go now.', 'Have a nice weekend!'],
  ...['What are you?', 'Do you know my name?', 'What can I ask you?', 'I do not understand.', 'You were wrong.', 'Please be brief.'],
  ...['Name three colours.', 'Name two animals that can fly.', 'Which fruit do you like best?', 'What rhymes with moon?'],
  ...['Say "good night" in capital letters.', 'Repeat the word river twice.', 'Spell the word table.', 'Write one sentence about rain.'],
  ...['Who is the mayor of Orlenstead?', 'When was the Brackwater bridge built?', 'What does the Quillon 5 cost?'],
  'As JSON with name and age: Tom is 9 years old.',
  'The kettle costs 30 euros. Give item and price as a JSON object.',
  'Rome is in Italy. Write this as JSON with the keys city and country.',
  'Write a JSON object with the key "ok" and the value true.',
  'Translate "thank you" into French.',
  'Is this sentence friendly? You are most welcome here.',
  'Put these words in order: b, a, c.',
]; // prettier-ignore

/**
 * Arithmetic, and facts that models of any size may know. An answer that base gets wrong counts against no candidate.
 */
const wellKnown = [
  ...[['What is 7 + 5?', '12'], ['What is 12 times 3?', '36'], ['What is 20 minus 8?', '12'], ['Which is larger, 19 or 91?', '91']],
  ...[['How many days are in a week?', '7'], ['How many months are in a year?', '12'], ['What is the opposite of cold?', 'hot']],
  ...[['What is the capital of France?', 'Paris'], ['What is the capital of Japan?', 'Tokyo'], ['Who wrote Hamlet?', 'Shakespeare']],
  ...[['Where does the sun rise?', 'east'], ['What is the largest ocean?', 'Pacific'], ['What is the chemical symbol of gold?', 'Au']],
  ...[['On which continent is Egypt?', 'Africa'], ['What do bees make?', 'honey'], ['How many legs does a spider have?', '8']],
] as const; // prettier-ignore

const readings = [
  ['The kiosk sells tea for 2 euros and soup for 4.', 'What does the soup cost?', '4'],
  ['The kiosk sells tea for 2 euros and soup for 4.', 'What does the tea cost?', '2'],
  ['Marta Lind moved to Bergen in 2011. She repairs violins.', 'What does Marta Lind repair?', 'violins'],
  ['Marta Lind moved to Bergen in 2011. She repairs violins.', 'When did she move?', '2011'],
  ['The gym closes at 21:00 on weekdays and at 18:00 on Sundays.', 'When does the gym close on Sundays?', '18:00'],
  ['Dogs are allowed on the ferry, cats are not.', 'Which animals are allowed?', 'dogs'],
  ['Version 2.1 adds dark mode and fixes the search.', 'What does version 2.1 add?', 'dark mode'],
  ['The meeting was moved from room 4 to room 9.', 'In which room is the meeting now?', '9'],
  ['Lake Orrin is 14 km long and 3 km wide.', 'How wide is Lake Orrin?', '3 km'],
  ['The prize went to Ivo Hale for his film about bees.', 'What is the film about?', 'bees'],
] as const;

const askings = [
  ['The prize went to Ivo Hale for his film about bees.', 'Ivo Hale'],
  ['The shop was founded by two sisters in Gdansk.', 'Gdansk'],
] as const;

const questions = ['How old is the tower?', 'Who owns the bakery?'];
