/** English verb forms from the compromise library, enough to turn "designed" into "did … design". */
import nlp from 'compromise';
import { memoised } from '@engraft/learning/parts';

/** Past forms that do not end in "ed". They help to find the verb of a sentence. */
const irregular = {
  ate: 'eat', became: 'become', began: 'begin', bought: 'buy', broke: 'break', brought: 'bring', built: 'build', came: 'come',
  caught: 'catch', chose: 'choose', created: 'create', drew: 'draw', drove: 'drive', fell: 'fall', flew: 'fly', found: 'find', gave: 'give',
  got: 'get', grew: 'grow', had: 'have', held: 'hold', kept: 'keep', knew: 'know', led: 'lead', left: 'leave', lost: 'lose',
  made: 'make', met: 'meet', paid: 'pay', ran: 'run', rose: 'rise', said: 'say', sang: 'sing', sank: 'sink', saw: 'see', sent: 'send',
  sold: 'sell', spent: 'spend', spoke: 'speak', stood: 'stand', taught: 'teach', told: 'tell', took: 'take', went: 'go',
  won: 'win', wore: 'wear', wrote: 'write',
}; // prettier-ignore
export const irregularPasts: ReadonlyMap<string, string> = new Map(Object.entries(irregular));

/** Participles that differ from the past form: the infinitive and the past. */
const different = {
  begun: ['begin', 'began'], broken: ['break', 'broke'], chosen: ['choose', 'chose'], done: ['do', 'did'], drawn: ['draw', 'drew'],
  driven: ['drive', 'drove'], flown: ['fly', 'flew'], given: ['give', 'gave'], grown: ['grow', 'grew'], known: ['know', 'knew'],
  run: ['run', 'ran'], seen: ['see', 'saw'], shown: ['show', 'showed'], spoken: ['speak', 'spoke'], sung: ['sing', 'sang'],
  taken: ['take', 'took'], worn: ['wear', 'wore'], written: ['write', 'wrote'],
} as const; // prettier-ignore

/** Irregular participles with the other forms of their verb. Those that are pasts as well are among them. */
export const participles: ReadonlyMap<string, { readonly infinitive: string; readonly past: string }> = new Map([
  ...[...irregularPasts].map(([past, infinitive]) => [past, { infinitive, past }] as const),
  ...Object.entries(different).map(([participle, [infinitive, past]]) => [participle, { infinitive, past }] as const),
]);

/** The third person: "keeps", "watches", "carries". */
export function presentOf(infinitive: string): string {
  if (/(?:s|x|z|ch|sh|o)$/u.test(infinitive)) return `${infinitive}es`;
  return `${infinitive.replace(/(?<=[^aeiou])y$/u, 'ie')}s`;
}

export interface FiniteVerb {
  readonly auxiliary: 'does' | 'did';
  readonly infinitive: string;
}

/** Splits a third-person present or a past form. `null` if the word looks like neither. */
export function takeApart(verb: string): FiniteVerb | null {
  const known = irregularPasts.get(verb);
  if (known !== undefined) return { auxiliary: 'did', infinitive: known };
  if (verb.length < 3 || /^(?:his|its|this|thus|always|perhaps|besides|towards|afterwards|indeed)$/u.test(verb))
    return null;
  if (verb.endsWith('ed')) return { auxiliary: 'did', infinitive: infinitiveOf(verb) };
  if (verb.endsWith('s') && !verb.endsWith('ss')) return { auxiliary: 'does', infinitive: infinitiveOf(verb) };
  return null;
}

/** "stop" for "stopped", "query" for "queries". Returns the word itself if it has no other known form. */
export function baseFormOf(word: string): string {
  const known = irregularPasts.get(word);
  return (
    known ??
    memoised(baseForms, word, () => {
      const document = nlp(word);
      if (document.has('#Plural')) return document.nouns().toSingular().text() || word;
      return document.has('#Verb') ? document.verbs().toInfinitive().text() || word : word;
    })
  );
}

function infinitiveOf(verb: string): string {
  if (verb === 'has') return 'have';
  return memoised(infinitives, verb, () => {
    const document = nlp(verb);
    document.tag('Verb');
    return document.verbs().toInfinitive().text() || verb;
  });
}

const baseForms = new Map<string, string>();
const infinitives = new Map<string, string>();
