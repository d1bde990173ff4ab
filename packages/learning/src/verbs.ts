/** English verb forms, as the language library compromise knows them: enough to turn "designed" into "did … design". */
import nlp from 'compromise';

/** Pasts that do not end in "ed", by which sentences are found to have a verb. */
export const irregularPasts: Readonly<Record<string, string>> = {
  ate: 'eat', became: 'become', began: 'begin', bought: 'buy', broke: 'break', brought: 'bring', built: 'build', came: 'come',
  caught: 'catch', chose: 'choose', created: 'create', drew: 'draw', drove: 'drive', fell: 'fall', flew: 'fly', found: 'find', gave: 'give',
  got: 'get', grew: 'grow', had: 'have', held: 'hold', kept: 'keep', knew: 'know', led: 'lead', left: 'leave', lost: 'lose',
  made: 'make', met: 'meet', paid: 'pay', ran: 'run', rose: 'rise', said: 'say', sang: 'sing', sank: 'sink', saw: 'see', sent: 'send',
  sold: 'sell', spent: 'spend', spoke: 'speak', stood: 'stand', taught: 'teach', told: 'tell', took: 'take', went: 'go',
  won: 'win', wore: 'wear', wrote: 'write',
}; // prettier-ignore

export interface FiniteVerb {
  readonly auxiliary: 'does' | 'did';
  readonly infinitive: string;
}

/** A third-person present or a past form taken apart; `null` for what does not look like either. */
export function takeApart(verb: string): FiniteVerb | null {
  const known = irregularPasts[verb];
  if (known !== undefined) return { auxiliary: 'did', infinitive: known };
  if (verb.length < 3) return null;
  if (verb.endsWith('ed')) return { auxiliary: 'did', infinitive: infinitiveOf(verb) };
  if (verb.endsWith('s') && !verb.endsWith('ss')) return { auxiliary: 'does', infinitive: infinitiveOf(verb) };
  return null;
}

/** By verb: looking one up takes the library some milliseconds. */
const infinitives = new Map<string, string>();
const maxInfinitives = 10_000;

function infinitiveOf(verb: string): string {
  const known = infinitives.get(verb);
  if (known !== undefined) return known;
  const document = nlp(verb);
  document.tag('Verb');
  const infinitive = verb === 'has' ? 'have' : document.verbs().toInfinitive().text() || verb;
  if (infinitives.size >= maxInfinitives) infinitives.clear();
  infinitives.set(verb, infinitive);
  return infinitive;
}
