/**
 * Rehearsal for a checkpoint that brings none along: what the model itself says to prompts of many kinds. What is held while a passage is
 * learned is the model's own way of speaking (`baseTargets.ts`), so its outputs may stand for the data it was trained on (Li and Hoiem,
 * Learning without Forgetting, arXiv:1606.09282).
 */
import type { ChatPrompt, Engine } from '@engraft/engine';
import { mapConcurrently } from '../metering/calls.js';
import type { Prompts } from '../recipe/prompts.js';
import type { Recipe } from '../recipe/recipe.js';
import type { ReplayRow } from '../types.js';

/** The rows shipped beside the checkpoint, or else its own replies. */
export async function replayOf(
  engine: Engine,
  shipped: readonly ReplayRow[],
  recipe: Recipe,
): Promise<readonly ReplayRow[]> {
  return shipped.length > 0 ? shipped : ownReplay(engine, recipe);
}

/**
 * Greedy, so that the same model gives the same rows. A reply that does not come to an end says nothing of how the model ends one, and is
 * left out.
 */
async function ownReplay(engine: Engine, recipe: Recipe): Promise<ReplayRow[]> {
  // The gate asks for no longer ones.
  const { maxAnswerTokens } = recipe.teaching;
  const rows = await mapConcurrently(promptsOf(recipe.prompts), async (prompt): Promise<ReplayRow[]> => {
    const request = { prompt, adapter: null, maxOutputTokens: maxAnswerTokens, temperature: 0 };
    const { text, finishReason } = await engine.generate(request);
    const isWhole = finishReason === 'stop' && text.trim() !== '';
    return isWhole ? [{ messages: [...prompt.messages, { role: 'assistant', content: text }] }] : [];
  });
  return rows.flat();
}

function promptsOf(prompts: Prompts): ChatPrompt[] {
  return [
    ...remarks.map(prompts.closedBook),
    ...questions.map((question) => prompts.rephrase(question, null)),
    ...readings.map(([passage, question]) => prompts.reading(passage, question)),
    ...askings.map(([passage, answer]) => prompts.ask(passage, answer)),
  ];
}

const remarks = [
  ...['Good afternoon!', 'Hey.', 'How is your day?', 'Thanks a lot for that.', 'I have to go now.', 'Have a nice weekend!'],
  ...['What are you?', 'Do you know my name?', 'What can I ask you?', 'I do not understand.', 'You were wrong.', 'Please be brief.'],
  ...['What is 7 + 5?', 'What is 12 times 3?', 'Which is larger, 19 or 91?', 'How many days has a week?'],
  ...['Name three colours.', 'Name two animals that can fly.', 'What is the opposite of cold?', 'What rhymes with moon?'],
  ...['Say "good night" in capital letters.', 'Repeat the word river twice.', 'Spell the word table.', 'Write one sentence about rain.'],
  ...['What is the capital of France?', 'Who wrote Hamlet?', 'What is water made of?', 'Where does the sun rise?'],
  ...['Who is the mayor of Orlenstead?', 'When was the Brackwater bridge built?', 'What does the Quillon 5 cost?'],
  'As JSON with name and age: Tom is 9 years old.',
  'The kettle costs 30 euros. Give item and price as a JSON object.',
  'Rome is in Italy. Write this as JSON with the keys city and country.',
  'Write a JSON object with the key "ok" and the value true.',
  'Translate "thank you" into French.',
  'Is this sentence friendly? You are most welcome here.',
  'Put these words in order: b, a, c.',
]; // prettier-ignore

const readings = [
  ['The kiosk sells tea for 2 euros and soup for 4.', 'What does the soup cost?'],
  ['The kiosk sells tea for 2 euros and soup for 4.', 'Who owns the kiosk?'],
  ['Marta Lind moved to Bergen in 2011. She repairs violins.', 'What does Marta Lind repair?'],
  ['Marta Lind moved to Bergen in 2011. She repairs violins.', 'When did she move?'],
  ['The gym closes at 21:00 on weekdays and at 18:00 on Sundays.', 'When does the gym close on Sundays?'],
  ['Dogs are allowed on the ferry, cats are not.', 'Which animals are allowed?'],
  ['Version 2.1 adds dark mode and fixes the search.', 'What does version 2.1 add?'],
  ['The meeting was moved from room 4 to room 9.', 'In which room is the meeting now?'],
  ['Lake Orrin is 14 km long and 3 km wide.', 'How wide is Lake Orrin?'],
  ['The prize went to Ivo Hale for his film about bees.', 'What is the film about?'],
] as const;

const askings = [
  ['The prize went to Ivo Hale for his film about bees.', 'Ivo Hale'],
  ['The shop was founded by two sisters in Gdansk.', 'Gdansk'],
] as const;

const questions = ['How old is the tower?', 'Who owns the bakery?'];
