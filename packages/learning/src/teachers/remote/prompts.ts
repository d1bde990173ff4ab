/** The prompts for a remote model. The words are plain, since it may be any model. */
import type { RemoteMessage } from '../../budget/remoteModel.js';
import type { QuestionAnswer } from '../../types.js';

const rules = `Rules:
- The answer is copied from the text word for word, and is as short as it can be: a name, a date, a number, a few words.
- The question names what it is about, so that it can be understood without the text.
- The question does not contain its answer.
Write nothing but lines like these, two for each question:
Q: the question
A: the answer`;

/** The reply has pairs. `asked` holds the questions of earlier lists. */
export function listPrompt(chunk: string, asked: readonly string[]): RemoteMessage[] {
  const wish = 'Write questions and answers about the text. Leave out no fact that it states.';
  const before = [
    'These questions were asked already:',
    ...asked.map((question) => `- ${question}`),
    'Write questions and answers about what they leave out. If they leave out nothing, write only: NONE',
  ].join('\n');
  return about(chunk, `${asked.length === 0 ? wish : before}\n\n${rules}`);
}

/** The reply has pairs that ask for the same facts in another way. */
export function rewritingPrompt(chunk: string, pairs: readonly QuestionAnswer[]): RemoteMessage[] {
  const given = pairs.map(({ question, answer }) => `Q: ${question}\nA: ${answer}`).join('\n');
  const wish = `These questions were asked about the text:\n\n${given}\n
For each of them write three more:
1. the same question in other words, with the same answer;
2. the question turned round: it gives the answer, and asks for what the question named;
3. a question with the same answer that needs one more fact of the text.`;
  return about(chunk, `${wish}\n\n${rules}`);
}

/** Everything is in one message, since some models take no system message. */
function about(chunk: string, wish: string): RemoteMessage[] {
  return [{ role: 'user', content: `Text:\n${chunk.trim()}\n\n${wish}` }];
}
