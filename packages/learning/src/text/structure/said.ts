/** Sentences that say a value, and what each of them tells. */
import { isEvent } from '../english/eventWords.js';
import { isSingularInS } from '../english/singulars.js';

/**
 * The meaning of a sentence made of one cell of a table, or of a key with its value. The sentence contains `answer`.
 */
export type Told = { readonly answer: string } &
  /** `noun` says what the subject is ("room", for Birch), if the table says so. */
  (
    | {
        readonly kind: 'attribute';
        readonly key: string;
        readonly subject: string;
        readonly noun: string | null;
        readonly moment: string | null;
      }
    /** A cell that belongs equally to its row and its column. `measure` says what it is: "price" or "opening hours". */
    | {
        readonly kind: 'crossing';
        readonly measure: string | null;
        readonly row: string;
        readonly column: string;
        /** The rows' kind ("car park"), if the table says it. */
        readonly noun: string | null;
        /** The column as a moment: "on Saturday". */
        readonly moment: string | null;
        /** The names of the other rows and columns, as `row` and `column` are written. */
        readonly others: { readonly rows: readonly string[]; readonly columns: readonly string[] };
      }
    /** Something that happens: "on Monday", "at 9:00", "in the hall". `noun` says what kind of thing it is. */
    | { readonly kind: 'event'; readonly circumstances: readonly string[]; readonly noun: string | null }
    /** When a train, bus or ship is at a stop; `noun` says which of these it is. */
    | {
        readonly kind: 'stop';
        readonly ride: string;
        readonly stop: string;
        /** Whether this is its first stop in the table, where it does not arrive. */
        readonly isOrigin: boolean;
        /** Whether this is its last stop in the table, from where it does not leave. */
        readonly isTerminus: boolean;
        readonly noun: string | null;
      }
    /** When something is; `noun` says what such things are. */
    | { readonly kind: 'moment'; readonly subject: string; readonly noun: string | null }
    /** A heading or a title, which says nothing that could be asked for. */
    | { readonly kind: 'title' }
  );

export interface Said {
  readonly text: string;
  /** `null` for a sentence that was not made here. */
  readonly told: Told | null;
  /** Text of the passage itself, with its own line ends. */
  readonly isRaw?: boolean;
}

/** One line for each sentence. */
export function textOf(lines: readonly Said[]): string {
  return lines.map(({ text, isRaw = false }) => (isRaw ? text : `${text}\n`)).join('');
}

/** Removes trailing white space, so that they are lines among others. */
export function trimmed(lines: readonly Said[]): Said[] {
  const last = lines.findLastIndex(({ text }) => text.trim() !== '');
  return lines
    .slice(0, last + 1)
    .map((line, at) => (at === last ? { text: line.text.trimEnd(), told: line.told } : line));
}

/** Two values of one thing at one moment are of two things whose names are not known. So neither is told. */
export function withoutDisputes(lines: readonly Said[]): Said[] {
  const answers = new Map<string, string>();
  const disputed = new Set<string>();
  for (const { told } of lines) {
    const about = aboutOf(told);
    if (told === null || about === null) continue;
    if ((answers.get(about) ?? told.answer) !== told.answer) disputed.add(about);
    answers.set(about, told.answer);
  }
  return lines.map((line) => (disputed.has(aboutOf(line.told) ?? '') ? { ...line, told: null } : line));
}

function aboutOf(told: Told | null): string | null {
  if (told?.kind !== 'attribute' || told.moment === null) return null;
  return [told.key, told.subject, told.moment].join('\n').toLowerCase();
}

/** A heading is a title, unless it asks something. */
export function asTitle(text: string): Said {
  return { text, told: text === '' || text.endsWith('?') ? null : { kind: 'title', answer: '' } };
}

export function asWritten(text: string): Said {
  return { text: asSentence(text), told: null };
}

/** "The price of the Tarn 3 is $249.", or "The price on Monday is $249." where the subject is a moment. */
export function said(key: string, subject: string, value: string, noun: string | null = null): Said {
  const [name, thing, answer] = [lowerFirst(key.trim()), withArticle(subject), inLetters(value.trim())];
  // "The first bus of Market Square is at 5:55.", but "The duration is 1:30."
  const at = isClock(answer) && isEvent(name) && copulaOf(key) === 'is' ? 'at ' : '';
  return {
    text: asSentence(`The ${name} of ${thing} ${copulaOf(key)} ${at}${answer}`),
    told: { kind: 'attribute', key: name, subject: thing, noun, moment: null, answer },
  };
}

/** "5:55" and "5.55 pm". "5.55" alone is more often a price or a rating. */
export function isClock(value: string): boolean {
  return /^\d{1,2}(?::\d{2}|(?:[:.]\d{2})? ?[ap]\.?m\.?)$|^\d{1,2}:\d{2} ?[ap]\.?m\.?$/iu.test(value);
}

/** A tick means yes. */
function inLetters(value: string): string {
  return /^[✓✔☑]$/u.test(value) ? 'yes' : /^[✗✘]$/u.test(value) ? 'no' : value;
}

/** "are" after "colours" and "menus", "is" after "glass", "bus" and "analysis". */
export function copulaOf(key: string): 'is' | 'are' {
  const noun = key.replace(/\([^()]*\)/gu, '').trim();
  return /[^s]s$/u.test(noun) && !isSingularInS(noun) ? 'are' : 'is';
}

/** "the Tarn 3 espresso machine", but "Birch" and "Ola Nygaard". */
export function withArticle(subject: string): string {
  const endsInNoun = /\p{L}\P{L}/u.test(subject) && /\s\p{Ll}+$/u.test(subject);
  return (endsInNoun || /^\p{Ll}/u.test(subject)) && !/^(?:the|an?|our|my)\s/iu.test(subject)
    ? `the ${subject}`
    : subject;
}

/** "Weight" is a word, "USB ports" begins with a name. */
export function lowerFirst(text: string): string {
  return /^\p{Lu}(?:\p{Ll}|\s|$)/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

export function asSentence(text: string): string {
  return /[.!?:]["”')]?$/u.test(text) ? text : `${text}.`;
}
