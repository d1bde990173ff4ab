/** Enough English morphology to turn "designed" into "did … design". */

export const irregularPasts: Readonly<Record<string, string>> = {
  ate: 'eat', became: 'become', began: 'begin', bought: 'buy', broke: 'break', brought: 'bring', built: 'build', came: 'come',
  caught: 'catch', chose: 'choose', created: 'create', drew: 'draw', drove: 'drive', fell: 'fall', flew: 'fly', found: 'find', gave: 'give',
  got: 'get', grew: 'grow', had: 'have', held: 'hold', kept: 'keep', knew: 'know', led: 'lead', left: 'leave', lost: 'lose',
  made: 'make', met: 'meet', paid: 'pay', ran: 'run', rose: 'rise', said: 'say', sang: 'sing', saw: 'see', sent: 'send',
  sold: 'sell', spent: 'spend', spoke: 'speak', stood: 'stand', taught: 'teach', told: 'tell', took: 'take', went: 'go',
  won: 'win', wrote: 'write',
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
  if (verb.endsWith('ed')) return { auxiliary: 'did', infinitive: withoutEd(verb) };
  if (verb.endsWith('s') && !verb.endsWith('ss')) return { auxiliary: 'does', infinitive: withoutS(verb) };
  return null;
}

function withoutS(verb: string): string {
  if (verb === 'has') return 'have';
  if (verb.endsWith('ies') && verb.length > 4) return `${verb.slice(0, -3)}y`;
  return /(?:ch|sh|ss|x|z|o)es$/u.test(verb) ? verb.slice(0, -2) : verb.slice(0, -1);
}

function withoutEd(verb: string): string {
  const stem = verb.slice(0, -2);
  if (stem.endsWith('i')) return `${stem.slice(0, -1)}y`;
  if (/([bdgmnprt])\1$/u.test(stem)) return stem.slice(0, -1);
  return /(?:[vcuz]|[^n]g|[^s]s|[^aeo]at|[aeiou]r(?<!er))$/u.test(stem) ? `${stem}e` : stem;
}
