/**
 * Questions for what a sentence tells that was made of a table or a list, as people ask them. Every word of such a
 * sentence is known, so the questions are right whatever a small teacher reads in it.
 */
import { capitalised, copulaOf, isEvent, isPersonName, type Told as AnyTold } from '@engraft/learning/parts';
import { kindsOf } from '../english/kinds.js';
import { rules } from '../rules.js';
import type { SpanKind } from '../spans/spans.js';
import { phonePattern } from '../spans/valuePatterns.js';
import { wordingsFor } from './keyWordings.js';
import { crossedNames, ofCrossing } from './crossingWordings.js';
import { inLowerCase, isNoun, spokenNames } from './spokenNames.js';
import { ofStop, rideNames } from './stopWordings.js';
import { momentTemplates, type Wordings } from './wordings.js';

/** A sentence of a table or a list that says something. */
type Told = Exclude<AnyTold, { kind: 'title' }>;

type Attribute = Extract<Told, { kind: 'attribute' }>;

export interface ToldQuestions {
  /** The sentence turned into a question, which says nothing of whether people are answered. */
  readonly restated: string;
  /** In the words of people, the plainest first. */
  readonly asked: readonly string[];
  /**
   * In other words of people: what tests that it was learned. It is worded alike for all values of a kind, so that none
   * of them is trained in this wording.
   */
  readonly test: string | undefined;
}

export function toldQuestions(told: Told, kind: SpanKind): ToldQuestions {
  const { restated, asked, test } = questionsFor(told, kind);
  const different = [...new Set(asked)].filter((question) => question !== restated);
  const tested = test ?? different.at(-1);
  return { restated, asked: different.filter((question) => question !== tested), test: tested };
}

function questionsFor(told: Told, kind: SpanKind): Wordings {
  switch (told.kind) {
    case 'attribute':
      return told.moment === null ? ofAttribute(told, kind) : ofMoment(told, told.moment, kind);
    case 'crossing':
      return ofCrossing(told, kind);
    case 'stop':
      return ofStop(told);
    case 'event':
      return ofEvent(told);
    case 'moment':
      return ofThing(told);
  }
}

/** The names that the questions of a told sentence must have. */
export function subjectsOfTold(told: Told): string[] {
  return namedBy(told).map((name) => name.replace(/^the /u, ''));
}

function namedBy(told: Told): string[] {
  if (told.kind === 'attribute')
    return told.moment === null ? spokenNames(told.subject, null).slice(0, 2) : [momentName(told, told.moment)];
  if (told.kind === 'event') return [told.circumstances.join(' ')];
  if (told.kind === 'moment') return [told.subject];
  if (told.kind === 'stop') return rideNames(told).flatMap((ride) => [`${ride} ${told.stop}`, `${told.stop} ${ride}`]);
  return crossedNames(told);
}

/** Two things may have values on one day, so its words alone ask for neither. */
function momentName({ key, subject }: Attribute, moment: string): string {
  return subject === '' ? (/ (?:hours|times)$/u.test(key) ? `${key} ${moment}` : moment) : `${subject} ${moment}`;
}

function ofAttribute({ key: written, subject, noun, answer }: Attribute, kind: SpanKind): Wordings {
  // "dimensions (W x H x D)": nobody asks with what stands in brackets.
  const key = written.replace(/ ?\([^()]*\)/gu, '').replace(/^qty\.?$/u, 'quantity');
  const own = wordingsFor(key, { answer, noun });
  const isPhone =
    phonePattern.test(answer) || (kind !== 'date' && /^\+?[\d ()./-]{7,}$/u.test(answer) && !/^[\d.]+$/u.test(answer));
  const isTime = kind === 'time' && own.length === 0 && isEvent(key);
  const isPerson = kind === 'name' && own.length === 0 && isSomebody(key, answer);
  const isFlag = /^(?:yes|no)$/iu.test(answer);
  const ofKind = [
    ...own,
    ...(isTime ? momentTemplates(key, noun) : []),
    ...(isPerson ? personWordings : []),
    ...(isFlag ? ['Does {X} have KEY?', 'Is there KEY with {X}?', 'Does {X} include KEY?'] : []),
    ...(isCounted(key, answer) ? ['How many KEY does {X} have?', 'How many KEY are there for {X}?'] : []),
    ...(kind === 'money' && own.length === 0
      ? ['How much is the KEY of {X}?', 'How much is the KEY for {X}?', 'How much KEY do I pay for {X}?']
      : []),
    ...(isPhone ? ['What is the phone number of the KEY of {X}?', ...phoneWordings(key)] : []),
  ];
  // "the soup bowl, grey" is how lists write it.
  const names = spokenNames(subject, noun).filter((name, _, all) => all.length === 1 || !name.includes(','));
  // Where people have few words of their own for it, all of them are trained.
  const tested = (ofKind.length < 3 ? undefined : ofKind.at(-1)) ?? 'Which KEY does {X} have?';
  const others = isTime ? [] : isPerson ? anyKey.filter((template) => !template.startsWith('What is')) : anyKey;
  const templates = [...ofKind, ...others].filter((template) => template !== tested);
  const made = templates.flatMap((template) =>
    (/\{Xs?\}/u.test(template) ? names : ['']).map((name) => filled(template, key, name)),
  );
  return {
    restated: `${isTime ? 'When' : isPerson ? 'Who' : 'What'} ${copulaOf(written)} the ${key} of ${subject}?`,
    asked: made.slice(0, rules.tabledPerFact),
    test: filled(tested, key, names[1] ?? names[0] ?? subject),
  };
}

/** A role and who has it: the tenant, the landlord, the head of sales. */
const personWordings = [
  'Who is the KEY?',
  'Who is the KEY of {X}?',
  'What is the name of the KEY?',
  'Who is the KEY for {X}?',
  'What is the name of the KEY of {X}?',
  'What is the KEY called?',
];

function isSomebody(key: string, answer: string): boolean {
  const noun = /\p{L}+$/u.exec(key)?.[0] ?? '';
  const isRole = /(?:er|or|ant|ent|lord|man|woman|person|chair|head|lead)$/u.test(noun);
  return (
    isRole && (isPersonName(answer) || kindsOf(noun).some((kind) => /person|worker|profession|occupation/u.test(kind)))
  );
}

const anyKey = [
  'What is the KEY?',
  'What is the KEY of {X}?',
  'What KEY does {X} have?',
  'What is the KEY for {X}?',
  'Which KEY does {X} have?',
];

/** With the number of the key, or of the thing where the verb is said of that. */
function filled(template: string, key: string, name: string): string {
  const ofKey = copulaOf(key) === 'are' ? template.replace('is the KEY', 'are the KEY') : template;
  const isPlural = /^the .*[^s]s$/u.test(name);
  const ofBoth = isPlural
    ? ofKey.replace('does {X}', 'do {X}').replace('is {X}', 'are {X}').replace('was {X}', 'were {X}')
    : ofKey;
  const plain = name.replace(/^the /u, '');
  // A function, because "$&" in a name would have a meaning in a replacement string.
  return ofBoth
    .replaceAll('KEY', () => key)
    .replaceAll('{X}', () => name)
    .replaceAll('{Xs}', () => (isPlural ? plain : pluralOf(plain)));
}

function pluralOf(noun: string): string {
  return /(?:s|x|z|ch|sh)$/u.test(noun) ? `${noun}es` : noun.replace(/(?<=[^aeiou])y$/u, 'ie') + 's';
}

/** "Which number do I call for service?" of a "service hotline". */
function phoneWordings(key: string): string[] {
  const [, purpose] = /^(.+) (?:hotline|line|desk|phone|telephone|number)$/u.exec(key) ?? [];
  return [
    'What is the phone number of the KEY?',
    'Which number do I call for the KEY?',
    ...(purpose === undefined ? [] : [`Which number do I call for ${purpose}?`]),
  ];
}

/** "users" with a number alone. */
function isCounted(key: string, answer: string): boolean {
  return /^\d[\d.,]*$/u.test(answer) && /^[\p{Ll} ]+[^s]s$/u.test(key);
}

function ofMoment({ key: plain, subject }: Attribute, moment: string, kind: SpanKind): Wordings {
  const [being, key] = [copulaOf(plain), subject === '' ? plain : `${plain} of ${subject}`];
  return {
    restated: `What ${being} the ${key} ${moment}?`,
    asked: [
      ...(kind === 'money' ? [`How much ${being} the ${key} ${moment}?`] : []),
      ...(moment === 'now' ? [`What ${being} the new ${key}?`, `What ${being} the ${key}?`] : []),
      `Which ${key} ${being} there ${moment}?`,
      `What is there ${moment} as ${key}?`,
      `${capitalised(moment)}, what ${being} the ${key}?`,
    ],
  };
}

function ofEvent({ circumstances, noun }: Extract<Told, { kind: 'event' }>): Wordings {
  const [usual, turned] = [circumstances.join(' '), [...circumstances].reverse().join(' ')];
  return {
    restated: `What is there ${usual}?`,
    asked: [
      ...(noun === null
        ? []
        : [`Which ${noun} is ${usual}?`, `What ${noun} is there ${turned}?`, `Which ${noun} can I go to ${turned}?`]),
      `What is ${usual}?`,
      `What is ${turned}?`,
      `${capitalised(usual)}, what is there?`,
      `What can I do ${turned}?`,
      `What takes place ${usual}?`,
    ],
  };
}

/** When something is: only of days is asked what says no time of day. */
function ofThing({ subject, noun, answer }: Extract<Told, { kind: 'moment' }>): Wordings {
  const names = [...new Set([subject, isNoun(subject) ? inLowerCase(subject) : subject])];
  const own =
    noun === null
      ? []
      : names.flatMap((name) => [`When is the ${name} ${noun}?`, `When does the ${name} ${noun} take place?`]);
  const asked = names.flatMap((name) => [
    `When is ${name}?`,
    ...(/\bat \d|\d[:.]\d\d|noon|midnight/u.test(answer) ? [`At what time is ${name}?`, `What time is ${name}?`] : []),
    ...(answer.startsWith('on ') ? [`On which day is ${name}?`] : []),
  ]);
  return {
    restated: `When is ${subject}?`,
    asked: [...asked, ...own, `When does ${names.at(-1) ?? subject} take place?`],
  };
}
