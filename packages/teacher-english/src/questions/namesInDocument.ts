/** Names that a document's tables, lists and definitions give, by which its prose goes on. */
import { containsWords, escapeForPattern, type TextRange, type Told } from '@engraft/learning/parts';
import { rules } from '../rules.js';
import type { Span } from '../spans/spans.js';

/** "R 17" and "P5" of a table, which prose names, too. Patterns would find a part of them, or a number. */
export function codesIn(told: ReadonlyMap<string, Told>): string[] {
  const names = [...told.values()].flatMap((each): string[] => {
    if (each.kind === 'stop') return [each.ride];
    if (each.kind === 'crossing') return [each.row];
    return each.kind === 'attribute' ? [each.subject] : [];
  });
  return [...new Set(names)].filter((name) => /^(?=.*\d)(?=.*\p{Lu})[\p{L}\d]+(?:[ .-][\p{L}\d]+)?$/u.test(name));
}

/** The spans of a sentence with such names, which replace what overlaps them. */
export function withCodes(spans: readonly Span[], { start, text }: TextRange, codes: readonly string[]): Span[] {
  const found = codes.flatMap((code): Span[] => {
    const at = new RegExp(`(?<![\\p{L}\\p{N}])${escapeForPattern(code)}(?![\\p{L}\\p{N}])`, 'u').exec(text)?.index;
    if (at === undefined) return [];
    return [{ kind: 'code', start: start + at, end: start + at + code.length, text: code, isSubject: at === 0 }];
  });
  const others = spans.filter((span) => found.every(({ start: from, end }) => span.end <= from || span.start >= end));
  return [...others, ...found].sort((a, b) => a.start - b.start);
}

/** Who has a part in a contract, by its name in the clauses: Ada Kell is "the Tenant". */
export type Holders = ReadonlyMap<string, string>;

export function holdersIn(text: string, told: ReadonlyMap<string, Told>): Holders {
  const holders = new Map<string, string>();
  for (const each of told.values()) {
    if (each.kind !== 'attribute' || !/^\p{Ll}+$/u.test(each.key) || !/^\p{Lu}/u.test(each.answer)) continue;
    const part = each.key.charAt(0).toUpperCase() + each.key.slice(1);
    if (new RegExp(`\\b[Tt]he ${part}\\b`, 'u').test(text)) holders.set(part, each.answer);
  }
  for (const [, name = '', part = ''] of text.matchAll(defined)) holders.set(part, name);
  return holders;
}

/** `Corvina Labs (the "Provider")` */
const defined = /(\p{Lu}[\p{L}&'’.-]*(?: [\p{Lu}&][\p{L}&'’.-]*){0,4}) \((?:the )?["“](\p{Lu}\p{Ll}+)["”]\)/gu;

/** The first questions also with each part's name, and as people write who have none: "the tenant". */
export function withHolders(questions: readonly string[], holders: Holders, answer: string): string[] {
  return questions.flatMap((question, index) => {
    const asked = [question];
    for (const [part, name] of index < rules.rewordedPerFact ? holders : []) {
      const word = new RegExp(`\\b[Tt]he ${part}(?!\\p{L})`, 'u');
      if (!word.test(question)) continue;
      asked.push(question.replace(word, `the ${part.toLowerCase()}`));
      if (!containsWords(name, answer)) asked.push(question.replace(word, () => name));
    }
    return asked;
  });
}

/** The names of those whose parts a text mentions. */
export function holdersNamed(text: string, holders: Holders): string[] {
  return [...holders].filter(([part]) => text.includes(part)).map(([, name]) => name);
}
