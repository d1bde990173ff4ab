/**
 * The usual ways of asking for a value, by what kind of value it is and what its sentence says: a length is asked for with
 * "How long is …?", a person after "designed" with "Who designed …?". Too many are made, and scoring keeps the wordings of a relation
 * only when the teacher answers most of them with the value.
 */
import { colourWords, shadeWords } from './colours.js';
import { isFunctionWord } from './functionWords.js';
import type { Stretch } from './sentences.js';
import type { Span } from './spans.js';
import { areaUnit, durationUnit, lengthUnit, massUnit, moneyUnit, percentUnit } from './units.js';

/** Questions for one relation; the teacher should answer all of them alike. */
export interface Relation {
  readonly name: string;
  readonly questions: readonly string[];
}

interface Template {
  readonly name: string;
  readonly kinds: readonly Span['kind'][];
  /** Somewhere in the sentence. */
  readonly cue?: RegExp;
  /** The span itself, in lower case. */
  readonly value?: RegExp;
  /** `{X}` is what is asked about, `{N}` what a quantity counts. */
  readonly wordings: readonly string[];
}

const unit = new RegExp([massUnit, lengthUnit, durationUnit, moneyUnit].map(({ source }) => source).join('|'), 'u');
const colour = new RegExp(`^(?:(?:${shadeWords}|painted) )*(?:${colourWords}|silver|gold|golden)\\b`, 'u');
const price: readonly Span['kind'][] = ['money', 'quantity'];
const when: readonly Span['kind'][] = ['date', 'time'];

const templates: readonly Template[] = [
  { name: 'price', kinds: price, value: moneyUnit, cue: /cost|price|sold|sell|pay|worth|for [$€£\d]|dear|fee|charge/iu,
    wordings: ['How much does {X} cost?', 'What is the price of {X}?', 'What does {X} cost?', 'How much must one pay for {X}?'] },
  { name: 'fee', kinds: price, value: moneyUnit, cue: /pay|paid|fee|member|charge|rent|deposit|fine/iu,
    wordings: ['How much is the fee of {X}?', 'What is the fee of {X}?', 'How much do people pay at {X}?', 'What does one pay at {X}?'] },
  { name: 'sum', kinds: price, value: moneyUnit, cue: /debt|budget|grant|profit|loan|raised|gave|prize|spen[dt]|income/iu,
    wordings: ['How much money is it for {X}?', 'How large is the sum of {X}?', 'What sum does {X} have?', 'How much money did {X} get?'] },
  { name: 'weight', kinds: ['quantity'], value: massUnit, cue: /weigh|heavy|weight/iu,
    wordings: ['How much does {X} weigh?', 'How heavy is {X}?', 'What is the weight of {X}?', 'What does {X} weigh?'] },
  { name: 'load', kinds: ['quantity'], value: massUnit, cue: /carr|lift|hold|load|bear/iu,
    wordings: ['How much can {X} carry?', 'What is the largest load of {X}?', 'How much weight can {X} carry?', 'What load does {X} take?'] },
  { name: 'volume', kinds: ['quantity'], value: /\b(?:l|ml|lit(?:re|er)s?|millilit\w+|gallons?|pints?)$/u,
    wordings: ['How much does {X} hold?', 'What is the capacity of {X}?', 'How much water does {X} hold?', 'How much fits into {X}?'] },
  { name: 'length', kinds: ['quantity'], value: lengthUnit, cue: /\blong\b|length/iu, wordings: ['How long is {X}?', 'What is the length of {X}?', 'What length does {X} have?'] },
  { name: 'height', kinds: ['quantity'], value: lengthUnit, cue: /\bhigh\b|\btall\b|height|above/iu, wordings: ['How high is {X}?', 'How tall is {X}?', 'What is the height of {X}?'] },
  { name: 'width', kinds: ['quantity'], value: lengthUnit, cue: /\bwide\b|width|broad/iu, wordings: ['How wide is {X}?', 'What is the width of {X}?'] },
  { name: 'depth', kinds: ['quantity'], value: lengthUnit, cue: /\bdeep\b|depth/iu, wordings: ['How deep is {X}?', 'What is the depth of {X}?'] },
  { name: 'area', kinds: ['quantity'], value: areaUnit, wordings: ['How large is {X}?', 'What is the area of {X}?', 'How big is {X}?', 'What size does {X} have?'] },
  { name: 'power', kinds: ['quantity'], value: /\b(?:k?w|watts?|kilowatts?|horsepower|volts?)$/u, wordings: ['How strong is {X}?', 'What is the power of {X}?', 'How much power does {X} have?'] },
  { name: 'speed', kinds: ['quantity'], value: /(?:km\/h|mph|m\/s|an hour|per hour|knots)$/u, wordings: ['How fast is {X}?', 'What is the speed of {X}?', 'What speed does {X} reach?'] },
  { name: 'share', kinds: ['quantity'], value: percentUnit, wordings: ['What share is it for {X}?', 'What percentage does {X} have?', 'How many percent is it for {X}?'] },
  { name: 'warranty', kinds: ['quantity'], value: durationUnit, cue: /warrant|guarant/iu,
    wordings: ['How long is the warranty of {X}?', 'What is the warranty of {X}?', 'For how long is {X} guaranteed?', 'How long does the warranty of {X} last?'] },
  { name: 'battery', kinds: ['quantity'], value: durationUnit, cue: /batter|runs? (?:for|on)/iu,
    wordings: ['How long does the battery of {X} last?', 'What is the battery life of {X}?', 'For how long can one use {X} without charging?'] },
  { name: 'charging', kinds: ['quantity'], value: durationUnit, cue: /charg|full load|takes?\b|boil/iu,
    wordings: ['How long does {X} take?', 'How much time does {X} need?', 'How long does a full charge of {X} take?', 'How long does {X} need?'] },
  { name: 'waiting', kinds: ['quantity'], value: durationUnit, cue: /wait|deliver/iu, wordings: ['How long must one wait for {X}?', 'What is the waiting time of {X}?', 'How long is the delivery time of {X}?', 'How long do people wait for {X}?'] },
  { name: 'duration', kinds: ['quantity'], value: durationUnit, cue: /last|long|for|take|after|within/iu, wordings: ['How long does {X} last?', 'What is the duration of {X}?', 'For how long is {X}?'] },
  { name: 'age', kinds: ['quantity'], cue: /\bold\b|\bage/iu, wordings: ['How old is {X}?', 'What is the age of {X}?', 'At what age was {X}?'] },
  { name: 'count', kinds: ['quantity'], wordings: ['How many {N} does {X} have?', 'What number of {N} does {X} have?', 'How many {N} are there at {X}?', 'What is the number of {N} of {X}?', 'How many {N} belong to {X}?'] },
  { name: 'birth', kinds: when, cue: /\bborn\b/u, wordings: ['When was {X} born?', 'In which year was {X} born?', 'What is the birth date of {X}?'] },
  { name: 'death', kinds: when, cue: /\bdied\b|death/u, wordings: ['When did {X} die?', 'In which year did {X} die?'] },
  { name: 'founding', kinds: when, cue: /found|start|began|set up|establish|first/u, wordings: ['When was {X} founded?', 'In which year did {X} begin?', 'When did {X} start?', 'Since when does {X} exist?'] },
  { name: 'building', kinds: when, cue: /built|build|made|finish|complet|construct/u, wordings: ['When was {X} built?', 'In which year was {X} built?', 'When was {X} made?'] },
  { name: 'opening', kinds: when, cue: /open/u, wordings: ['When does {X} open?', 'When did {X} open?', 'At what time does {X} open?', 'On which day does {X} open?'] },
  { name: 'closing', kinds: when, cue: /clos|end|shut/u, wordings: ['When does {X} close?', 'When does {X} end?', 'At what time does {X} close?'] },
  { name: 'sale', kinds: when, cue: /sold|sale|shops|releas|publish|launch|appear|came out|ship/u, wordings: ['When was {X} released?', 'When was {X} first sold?', 'When did {X} come out?', 'When was {X} published?'] },
  { name: 'meeting', kinds: when, cue: /meet|next|again/u, wordings: ['When is the next meeting of {X}?', 'When does {X} meet?', 'On which day does {X} meet?', 'When is the next meeting?'] },
  { name: 'deadline', kinds: when, cue: /until|by|before|due|deadline|from/u, wordings: ['Until when is {X}?', 'By when must {X} be done?', 'What is the deadline of {X}?', 'On which date is {X}?'] },
  { name: 'designer', kinds: ['name'], cue: /design|drew|drawn|invent|idea|develop/u, wordings: ['Who designed {X}?', 'Who is the designer of {X}?', 'Who invented {X}?', 'By whom was {X} designed?', 'Whose idea was {X}?'] },
  { name: 'maker', kinds: ['name'], cue: /\bmakes?\b|made|buil[dt]|sew|produc|manufactur|workshop/u, wordings: ['Who makes {X}?', 'Which company makes {X}?', 'Who is the maker of {X}?', 'Who built {X}?', 'By whom is {X} made?'] },
  { name: 'leader', kinds: ['name'], cue: /\bruns?\b|\bran\b|\bled\b|lead|head|manag|direct|chair|captain|charge|under|boss|presid/u, wordings: ['Who leads {X}?', 'Who is the head of {X}?', 'Who runs {X}?', 'Who is in charge of {X}?', 'Who manages {X}?'] },
  { name: 'founder', kinds: ['name'], cue: /found|start|set up|creat|began|establish/u, wordings: ['Who founded {X}?', 'Who is the founder of {X}?', 'Who started {X}?', 'By whom was {X} founded?'] },
  { name: 'owner', kinds: ['name'], cue: /\bown|belong|bought/u, wordings: ['Who owns {X}?', 'Who is the owner of {X}?', 'To whom does {X} belong?', 'Who bought {X}?'] },
  { name: 'author', kinds: ['name'], cue: /wr[io]t|author|compos|book/u, wordings: ['Who wrote {X}?', 'Who is the author of {X}?', 'By whom was {X} written?'] },
  { name: 'trainer', kinds: ['name'], cue: /train|coach|teach|taught|learn|stud/u, wordings: ['Who trains {X}?', 'Who is the coach of {X}?', 'Who taught {X}?', 'Who was the teacher of {X}?'] },
  { name: 'sponsor', kinds: ['name'], cue: /pay|paid|sponsor|support|fund|gave/u, wordings: ['Who pays for {X}?', 'Who is the sponsor of {X}?', 'Who supports {X}?', 'Which company pays for {X}?'] },
  { name: 'repairer', kinds: ['name'], cue: /repair|fix|service|clean|care|look|organi[sz]e|keep/u, wordings: ['Who repairs {X}?', 'Who looks after {X}?', 'Who is responsible for {X}?', 'Who takes care of {X}?'] },
  { name: 'spouse', kinds: ['name'], cue: /marri|wife|husband/u, wordings: ['Who did {X} marry?', 'Who is married to {X}?', 'What is the name of the partner of {X}?'] },
  { name: 'place', kinds: ['name', 'phrase'], cue: /\b(?:in|at|near|on|from|to)\b/u, wordings: ['Where is {X}?', 'In which place is {X}?', 'Where can one find {X}?', 'In which town is {X}?'] },
  { name: 'birthplace', kinds: ['name'], cue: /\bborn\b|grew up|from/u, wordings: ['Where was {X} born?', 'Where does {X} come from?', 'What is the birthplace of {X}?', 'In which town was {X} born?'] },
  { name: 'place of making', kinds: ['name'], cue: /made|buil[dt]|produc|develop|design/u, wordings: ['Where is {X} made?', 'Where was {X} built?', 'In which town is {X} built?', 'Where was {X} developed?'] },
  { name: 'residence', kinds: ['name'], cue: /\bliv|home|moved|settled|house/u, wordings: ['Where does {X} live?', 'In which town does {X} live?', 'Where did {X} move?', 'Where is the home of {X}?'] },
  { name: 'called', kinds: ['name', 'quotation', 'code'], cue: /call|nam|known|title/u, wordings: ['What is {X} called?', 'What is the name of {X}?', 'Which name does {X} have?'] },
  { name: 'material', kinds: ['phrase'], cue: /\bof\b|from|\b(?:is|are)\b/u, wordings: ['What is {X} made of?', 'Which material is {X} made of?', 'From what is {X} made?'] },
  { name: 'colour', kinds: ['phrase'], value: colour, wordings: ['What colour is {X}?', 'Which colour does {X} have?', 'What is the colour of {X}?', 'In which colour is {X}?'] },
  { name: 'code', kinds: ['code'], wordings: ['What is the number of {X}?', 'What is the code of {X}?', 'Which version is {X}?'] },
]; // prettier-ignore

/** The relations that the span may stand in to each of `subjects`, such as "the Lume Lamp" or "the frame of the Lume Lamp". */
export function relationsOf(sentence: Stretch, span: Span, subjects: readonly string[]): Relation[] {
  const value = span.text.toLowerCase();
  const counted = unit.test(value)
    ? undefined
    : /^\S+(?: \p{Ll}+)? (\p{Ll}+s|people|men|women|children|staff)$/u.exec(value)?.[1];
  const fitting = templates.filter(
    (template) =>
      template.kinds.includes(span.kind) &&
      (template.cue?.test(sentence.text) ?? true) &&
      (template.value?.test(value) ?? true) &&
      (template.name !== 'count' || counted !== undefined),
  );
  const noun = appositionOf(sentence, span);
  return subjects.flatMap((subject) => [
    ...(noun === null ? [] : [{ name: `${noun} of ${subject}`, questions: namingQuestions(noun, subject) }]),
    ...fitting.map(({ name, wordings }) => ({
      name: `${name} of ${subject}`,
      questions: wordings.map((wording) => wording.replace('{X}', subject).replace('{N}', counted ?? '')),
    })),
  ]);
}

/** "the restaurant Blue Thimble", "a farm called Hollow Acre", "her teacher, Otto Brandt": what the name is the name of. */
function appositionOf(sentence: Stretch, span: Span): string | null {
  if (span.kind !== 'name' && span.kind !== 'quotation') return null;
  const before = sentence.text.slice(0, span.start - sentence.start);
  const noun =
    /\b(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|[Oo]ur) (?:\p{Ll}+ )?(?!(?:called|named) )(\p{Ll}+)(?: called| named|,)? [“"]?$/u.exec(
      before,
    )?.[1];
  return noun === undefined || isFunctionWord(noun) ? null : noun;
}

function namingQuestions(noun: string, subject: string): string[] {
  return [
    `What is the ${noun} of ${subject} called?`,
    `What is the name of the ${noun} of ${subject}?`,
    `Which ${noun} does ${subject} have?`,
    `Who is the ${noun} of ${subject}?`,
  ];
}
