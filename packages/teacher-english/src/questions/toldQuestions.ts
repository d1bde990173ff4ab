/**
 * Questions for what a sentence tells that was made of a table or a list, as people ask them. Every word of such a
 * sentence is known, so the questions are right whatever a small teacher reads in it.
 */
import { capitalised, copulaOf, type Told } from '@engraft/learning/parts';
import { rules } from '../rules.js';
import type { SpanKind } from '../spans/spans.js';

/** The plainest question first. */
export function toldQuestions(told: Told, kind: SpanKind): string[] {
  switch (told.kind) {
    case 'attribute':
      return told.moment === null ? ofAttribute(told, kind) : ofMoment(told.key, told.moment, kind);
    case 'crossing':
      return ofCrossing(told, kind);
    case 'event':
      return ofEvent(told);
    case 'moment':
      return [`When is ${told.subject}?`, `At what time is ${told.subject}?`, `On which day is ${told.subject}?`];
  }
}

/** The names that the questions of a told sentence must have. */
export function subjectsOfTold(told: Told): string[] {
  return namedBy(told).map((name) => name.replace(/^the /u, ''));
}

function namedBy(told: Told): string[] {
  if (told.kind === 'attribute') return told.moment === null ? namesOf(told.subject, null).slice(0, 2) : [told.moment];
  if (told.kind === 'event') return [told.circumstances.join(' ')];
  if (told.kind === 'moment') return [told.subject];
  const column = told.moment ?? told.column;
  return [`${told.row} ${column}`, `${column} ${told.row}`];
}

function ofAttribute(
  { key: written, subject, noun, answer }: Extract<Told, { kind: 'attribute' }>,
  kind: SpanKind,
): string[] {
  // "dimensions (W x H x D)": nobody includes the brackets in a question.
  const key = written.replace(/ ?\([^()]*\)/gu, '');
  const own = asked.flatMap(({ keys, questions }) => (keys.test(key) ? questions : []));
  const isPhone = /^\+?[\d ()./-]{7,}$/u.test(answer) && !/^[\d.]+$/u.test(answer);
  const isFlag = /^(?:yes|no)$/iu.test(answer);
  const templates = [
    ...own,
    ...(isFlag ? ['Does {X} have KEY?', 'Is there KEY with {X}?', 'Does {X} include KEY?'] : []),
    ...(isCounted(key, answer) ? ['How many KEY does {X} have?', 'How many KEY are there for {X}?'] : []),
    ...(kind === 'money' && own.length === 0 ? ['How much is the KEY of {X}?', 'How much is the KEY for {X}?'] : []),
    ...(isPhone && own.length === 0
      ? ['What is the phone number of the KEY of {X}?', 'What is the phone number of the KEY?']
      : []),
    'What KEY does {X} have?',
    'What is the KEY for {X}?',
    'Which KEY does {X} have?',
    'What is the KEY?',
  ];
  const names = namesOf(subject, noun);
  const made = templates.flatMap((template) =>
    (/\{Xs?\}/u.test(template) ? names : ['']).map((name) => filled(template, key, name)),
  );
  return [...new Set([`What ${copulaOf(written)} the ${key} of ${subject}?`, ...made])].slice(0, rules.tabledPerFact);
}

/** The number (singular or plural) of the key, or of the thing if the verb belongs to the thing. */
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

/**
 * The names that people use for a thing. "the olive oil, extra virgin" is also "the olive oil", "the door handle
 * KX-117" is also either part, "Venta R9 Dehumidifier" is also "the Venta R9" or "the dehumidifier", and "Birch" is
 * also "the room Birch". A name that two things share asks for neither.
 */
function namesOf(subject: string, kindOfThing: string | null): string[] {
  if (kindOfThing !== null && /^\p{Lu}/u.test(subject)) return [subject, `the ${kindOfThing} ${subject}`];
  const [, beforeComma] = /^([^,]{3,}), .+$/u.exec(subject) ?? [];
  if (beforeComma !== undefined) return [subject, beforeComma];
  const [, noun, code] = /^(the \p{Ll}.*|\p{Lu}\p{L}+(?: \p{L}+)*) ((?=\S*\d)\S*[\p{Lu}-]\S*)$/u.exec(subject) ?? [];
  if (noun !== undefined && code !== undefined) return [subject, noun, code];
  const [, model, kind] = /^(?:the )?(\p{Lu}.*\d\S*) (\p{L}[\p{L} -]+)$/u.exec(subject) ?? [];
  return model === undefined || kind === undefined ? [subject] : [subject, `the ${model}`, `the ${kind.toLowerCase()}`];
}

/** "users" with a number alone. */
function isCounted(key: string, answer: string): boolean {
  return /^\d[\d.,]*$/u.test(answer) && /^[\p{Ll} ]+[^s]s$/u.test(key);
}

const roles =
  'contact|manager|owner|leader|lead|head|director|teacher|instructor|trainer|keeper|speaker|editor|chef|cook|doctor';

/** How people ask for a key that has a word of its own in questions. */
const asked: readonly { readonly keys: RegExp; readonly questions: readonly string[] }[] = [
  {
    keys: /^(?:(?:unit|list|retail|net|sales) )?(?:price|cost)(?: per (?:unit|piece|item))?$/u,
    questions: ['How much does {X} cost?', 'What does {X} cost?', 'How much is {X}?', 'How much do I pay for {X}?'],
  },
  {
    keys: /^(?:price|cost) (?:per|a) month$|^monthly (?:price|cost|fee)$/u,
    questions: [
      'How much does {X} cost per month?',
      'What does {X} cost a month?',
      'What is the monthly price of {X}?',
    ],
  },
  {
    keys: /^(?:price|cost) (?:per|a) year$|^(?:annual|yearly) (?:price|cost|fee)$/u,
    questions: ['How much does {X} cost per year?', 'What does {X} cost a year?', 'What is the yearly price of {X}?'],
  },
  {
    keys: /^(?:net |gross |total )?weight$/u,
    questions: ['How heavy is {X}?', 'How much does {X} weigh?', 'What does {X} weigh?'],
  },
  { keys: /^(?:size|dimensions)\b/u, questions: ['How big is {X}?', 'How large is {X}?', 'What size is {X}?'] },
  { keys: /^(?:length|range)$/u, questions: ['How long is {X}?'] },
  { keys: /^height$/u, questions: ['How high is {X}?', 'How tall is {X}?'] },
  { keys: /^width$/u, questions: ['How wide is {X}?'] },
  { keys: /^depth$/u, questions: ['How deep is {X}?'] },
  { keys: /^age$/u, questions: ['How old is {X}?'] },
  { keys: /^(?:top |maximum )?speed$/u, questions: ['How fast is {X}?'] },
  { keys: /^noise(?: level)?$/u, questions: ['How loud is {X}?'] },
  { keys: /^origin$|^country of origin$/u, questions: ['Where does {X} come from?', 'Where is {X} from?'] },
  { keys: /^colours?$|^colors?$/u, questions: ['What colour is {X}?', 'Which colour does {X} have?'] },
  { keys: /^(?:maker|manufacturer|producer|brand)$/u, questions: ['Who makes {X}?', 'Which company makes {X}?'] },
  {
    keys: /^(?:supplier|vendor)$/u,
    questions: ['Who supplies {X}?', 'Which supplier does {X} come from?', 'From whom do we get {X}?'],
  },
  { keys: /^(?:designer)$/u, questions: ['Who designed {X}?', 'By whom was {X} designed?'] },
  { keys: /^(?:author|writer)$/u, questions: ['Who wrote {X}?', 'By whom was {X} written?'] },
  { keys: /^contact$/u, questions: ['Whom do I contact about {X}?', 'Who can I ask about {X}?'] },
  { keys: new RegExp(`^(?:${roles})$`, 'u'), questions: ['Who is the KEY of {X}?', 'Who is the KEY for {X}?'] },
  {
    keys: /^(?:location|place|venue|address|site|city|town)$/u,
    questions: ['Where is {X}?', 'In which place is {X}?'],
  },
  { keys: /^(?:room|hall)$/u, questions: ['In which room is {X}?', 'Where is {X}?'] },
  { keys: /^floor$/u, questions: ['On which floor is {X}?', 'What floor is {X} on?'] },
  {
    keys: /^(?:phone|telephone|phone number|hotline|service hotline|support hotline|tel\.?|extension)$/u,
    questions: [
      'What is the phone number of {X}?',
      'Which number do I call for {X}?',
      'Under which number is {X} reached?',
    ],
  },
  {
    keys: /^(?:stock|in stock|quantity|qty\.?|on hand|units)$/u,
    questions: ['How many {Xs} are there?', 'How many {Xs} are in stock?', 'What quantity of {X} is there?'],
  },
  {
    keys: /^(?:lead|delivery|delivery time|lead time|shipping time)$/u,
    questions: ['How long does it take to get {X}?', 'How long does delivery of {X} take?'],
  },
  {
    keys: /^(?:duration|length|running time|trial|free trial|warranty|guarantee)$/u,
    questions: ['How long is the KEY of {X}?', 'How long is the KEY for {X}?'],
  },
  { keys: /^(?:opening )?hours$|^opening times$/u, questions: ['When is {X} open?', 'When does {X} open?'] },
  {
    keys: /^(?:(?:due|issue|start|end|release|launch|invoice|delivery) )?date$|^deadline$/u,
    questions: ['On what date is the KEY of {X}?', 'When is the KEY of {X}?'],
  },
];

function ofMoment(key: string, moment: string, kind: SpanKind): string[] {
  const much = kind === 'money' ? [`How much ${copulaOf(key)} the ${key} ${moment}?`] : [];
  return [
    `What ${copulaOf(key)} the ${key} ${moment}?`,
    ...much,
    `${capitalised(moment)}, what ${copulaOf(key)} the ${key}?`,
  ];
}

type Crossing = Extract<Told, { kind: 'crossing' }>;

function ofCrossing({ answer, measure, row, column, moment }: Crossing, kind: SpanKind): string[] {
  const where = moment ?? `for ${column}`;
  if (measure !== null && /hours|times/u.test(measure)) {
    return [
      ...(answer === 'closed' ? [`Is ${row} open ${where}?`] : []),
      `When is ${row} open ${where}?`,
      `What are the ${measure} of ${row} ${where}?`,
      `When does ${row} open ${where}?`,
      `${capitalised(where)}, when is ${row} open?`,
      `When can I go to ${row} ${where}?`,
    ];
  }
  if (moment !== null) {
    return [
      `What ${copulaOf(measure ?? row)} the ${measure ?? 'value'} of ${row} ${moment}?`,
      `${capitalised(moment)}, what is the ${measure ?? 'value'} of ${row}?`,
    ];
  }
  const both = [
    ...(measure === null
      ? []
      : [`What is the ${column} ${measure} for ${row}?`, `What is the ${measure} of ${row} for ${column}?`]),
    `What is the ${column} for ${row}?`,
    `What is the ${column} of ${row}?`,
  ];
  // People write no capital, although the cell has one: "a return for an adult".
  const plain = row.replace(/^the /u, '').replace(/^\p{Lu}(?=\p{Ll})/u, (first) => first.toLowerCase());
  const one = `${/^[aeiou]/u.test(plain) ? 'an' : 'a'} ${plain}`;
  const much = [
    `How much is a ${column} ${plain}?`,
    `How much is a ${column} for ${one}?`,
    `What does a ${column} ${plain} cost?`,
    `What does a ${column} cost for ${one}?`,
    `How much is the ${column} ${measure ?? 'price'} of ${one}?`,
    `How much is ${column} for ${row}?`,
    `How much is ${row} for ${column}?`,
    `How much do I pay for ${one}, ${column}?`,
  ];
  const when = kind === 'time' ? [`When is the ${column} for ${row}?`, `When is the ${column} of ${row}?`] : [];
  return kind === 'money' ? [...both.slice(0, 2), ...much, ...both.slice(2)] : [...both, ...when];
}

function ofEvent({ circumstances, noun }: Extract<Told, { kind: 'event' }>): string[] {
  const [usual, turned] = [circumstances.join(' '), [...circumstances].reverse().join(' ')];
  const named = noun === null ? [] : [`Which ${noun} is ${usual}?`, `What ${noun} is there ${turned}?`];
  const plain = [`What is ${turned}?`, `What takes place ${usual}?`, `${capitalised(usual)}, what is there?`];
  return [...new Set([`What is there ${usual}?`, ...named, `What is ${usual}?`, ...plain])];
}
