/** How people ask for what the key of a value names, in words of its own: "How heavy is it?" for a weight. */

import { isStopNoun, type Told } from '@engraft/learning/parts';

type Attribute = Extract<Told, { kind: 'attribute' }>;

/** `{X}` is the thing, `{Xs}` several such things, `KEY` the key. The plainest first. */
export function wordingsFor(key: string, told: Pick<Attribute, 'answer' | 'noun'>): readonly string[] {
  const isServed = told.noun !== null && isStopNoun(told.noun) && /^every\b/iu.test(told.answer);
  const fitting = isServed ? [...asked, ofService] : asked;
  return fitting.flatMap(({ keys, questions }) => (keys.test(key) ? questions : []));
}

const roles =
  'contact|manager|owner|leader|lead|head|director|teacher|instructor|trainer|keeper|speaker|editor|chef|cook|doctor';

interface Asked {
  readonly keys: RegExp;
  readonly questions: readonly string[];
}

/** How often rides come to a stop. The frequency of a kettle is another one. */
const ofService: Asked = {
  keys: /^(?:frequency|interval)$/u,
  questions: [
    'How often is there one at {X}?',
    'How often does one come to {X}?',
    'How frequently is there one at {X}?',
    'At what interval is {X} served?',
  ],
};

const asked: readonly Asked[] = [
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
    keys: /^quantity$/u,
    questions: ['How many {Xs} are there?', 'What number of {Xs} is there?'],
  },
  {
    keys: /^(?:total|total due|amount due|grand total|total amount|balance due)$/u,
    questions: [
      'How much is {X} in total?',
      'How much do we have to pay in total?',
      'What do I have to pay for {X}?',
      'How much do I owe for {X}?',
    ],
  },
  {
    keys: /^(?:due date|payment due|pay by)$/u,
    questions: ['When is {X} due?', 'By what date does {X} have to be paid?', 'Until when can {X} be paid?'],
  },
  {
    keys: /^release date$/u,
    questions: [
      'When was {X} released?',
      'When did {X} come out?',
      'When did {X} appear?',
      'On what day was {X} published?',
      'On what date was {X} released?',
      'Since when is there {X}?',
    ],
  },
  {
    keys: /^contributor$/u,
    questions: ['Who did {X}?', 'Who made {X}?', 'By whom is {X}?', 'Who contributed {X}?'],
  },
  {
    keys: /^(?:stock|in stock|on hand|units)$/u,
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
    keys: /^date$/u,
    questions: ['When is {X}?', 'On what date is {X}?', 'On which day is {X}?'],
  },
  {
    keys: /^(?:issue|start|end|launch|invoice|delivery) date$|^deadline$/u,
    questions: ['On what date is the KEY of {X}?', 'When is the KEY of {X}?'],
  },
];
