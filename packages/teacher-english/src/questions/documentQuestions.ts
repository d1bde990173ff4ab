/** Questions for kinds of sentences that documents have and stories do not: instructions, limits, who keeps what. */
import { isPersonName, type TextRange } from '@engraft/learning/parts';
import { durationUnit, moneyUnit } from '../english/units.js';
import { baseFormOf, presentOf } from '../english/verbs.js';
import { isVerb } from '../english/wordClasses.js';
import type { Span } from '../spans/spans.js';
import { takeStatementApart } from '../spans/statement.js';
import { phonePattern } from '../spans/valuePatterns.js';
import { deriveQuestions } from './derive.js';
import type { Context } from './clauses.js';
import { makerQuestions } from './makerQuestions.js';

/** `stated` is the question above the sentence. The context's protagonist is the document. */
export function documentQuestions(
  sentence: TextRange,
  span: Span,
  spans: readonly Span[],
  context: Context,
  stated: string | null,
): string[] {
  const before = sentence.text.slice(0, span.start - sentence.start);
  const after = sentence.text.slice(span.end - sentence.start);
  return [
    ...phoneQuestions(before, span),
    ...makerQuestions(sentence, before, span, spans, context.protagonist),
    ...belowQuestion(before, span, stated),
    ...limitQuestions(before, span, after),
    ...numberedQuestions(before, span, after),
    ...namedValueQuestions(before, span, after),
    ...instructionQuestions(sentence, span, spans, context, stated),
    ...ofRelativeClause(sentence, span, spans, context),
    ...delayQuestions(sentence, span, spans, context),
  ];
}

/** "Yes, for up to 3 months." or "It costs $5." below "Can I freeze my membership?" */
function belowQuestion(before: string, span: Span, stated: string | null): string[] {
  return stated === null
    ? []
    : [...permissionQuestions(before, span, stated), ...effortQuestions(before, span, stated)];
}

/** "It costs $5." says what it costs to do what the question asks about. */
function effortQuestions(before: string, span: Span, stated: string): string[] {
  const [, verb = ''] = /^\s*(?:It|This|That) (costs|is|takes) (?:about |only |just )?$/u.exec(before) ?? [];
  const [, action = ''] = /^(?:Can|May|How (?:do|can|may)|Do) I (?:have to )?([^?]+)\?$/u.exec(stated) ?? [];
  if (verb === '' || action === '') return [];
  if (isMoney(span) && verb !== 'takes')
    return [`How much does it cost to ${action}?`, `What does it cost to ${action}?`, `How much is it to ${action}?`];
  return verb === 'takes' ? [`How long does it take to ${action}?`, `How much time does it take to ${action}?`] : [];
}

/** "18 euros" is a quantity. */
export function isMoney({ kind, text }: Span): boolean {
  return kind === 'money' || moneyUnit.test(text.toLowerCase());
}

/** "Yes, for up to 3 months." says for how long. */
function permissionQuestions(before: string, span: Span, stated: string): string[] {
  if (!/^\s*Yes\b[,.:]? ?(?:(?:but|for|up to|at most|at least|only|within|until|about) ?)*$/u.test(before)) return [];
  const asked = /^((?:Can|May|Must|Do|Does|Is|Are|Will|Should) [^?]+)\?$/u.exec(stated)?.[1];
  if (asked === undefined) return [];
  const clause = asked.charAt(0).toLowerCase() + asked.slice(1);
  if (span.kind === 'quantity' && durationUnit.test(span.text))
    return [`For how long ${clause}?`, `How long ${clause}?`];
  if (span.kind === 'date' || span.kind === 'time') return [`When ${clause}?`];
  const [, noun = ''] = / (?:an?|the|my|your|any) (\p{Ll}+(?: \p{Ll}+)?)$/u.exec(asked) ?? [];
  return isMoney(span) && noun !== ''
    ? [`How much is the ${noun}?`, `What is the ${noun}?`, `How high is the ${noun}?`, `How much ${noun} is asked for?`]
    : [];
}

/** "Up to 18 guests can sit at the long table." */
function limitQuestions(before: string, span: Span, after: string): string[] {
  const noun = /(?:^|[ -])(\p{Ll}+s|people|children)$/u.exec(span.text)?.[1];
  const [, limit = ''] = /^\s*(Up to|At most|No more than|At least|About|Around|Over) $/u.exec(before) ?? [];
  if (noun === undefined || limit === '') return [];
  const predicate = /^ ([^,;.]+)/u.exec(after)?.[1] ?? '';
  const number = limit === 'At least' ? 'smallest' : 'largest';
  return [
    ...(predicate === '' ? [] : [`How many ${noun} ${predicate}?`]),
    ...(/^(?:About|Around|Over)$/u.test(limit) ? [] : [`What is the ${number} number of ${noun}?`]),
  ];
}

/** "Train R 17 does not run on Sundays." says which train. */
function numberedQuestions(before: string, { kind }: Span, after: string): string[] {
  const noun = /^\s*(?:The )?(\p{L}{3,}) $/u.exec(before)?.[1]?.toLowerCase();
  const predicate = /^ ((?:is|are|was|were|has|can|may|must|does|will|\p{Ll}+s) [^,;.]+)/u.exec(after)?.[1];
  return kind !== 'code' || noun === undefined || predicate === undefined
    ? []
    : [`Which ${noun} ${predicate}?`, `What ${noun} ${predicate}?`];
}

/** "a deposit of $900", "the serial number EX-5527", "three months' notice": the noun says what to ask for. */
function namedValueQuestions(before: string, span: Span, after: string): string[] {
  const [, measured = ''] =
    /\b(?:an?|the) (\p{Ll}+(?: \p{Ll}+)?) of (?:up to |about |at least )?$/iu.exec(before) ?? [];
  if (measured !== '' && isMoney(span)) return [`How much is the ${measured}?`];
  if (measured !== '' && span.kind === 'quantity') return [`What is the ${measured}?`, `How large is the ${measured}?`];
  const [, named = ''] =
    /\b(?:the|an?|its|our|your) ((?:\p{Ll}+ )?(?:number|code|password|address|title|model))(?: is)? $/u.exec(before) ??
    [];
  if (named !== '') return [`What is the ${named}?`, `Which ${named} is it?`];
  if (!durationUnit.test(span.text) || !/^['’]?s? notice\b/u.test(after)) return [];
  const [, action = ''] = /\b(?:may|can|must) (\p{Ll}+ [^,;.]+?) with (?:at least )?$/u.exec(before) ?? [];
  return [
    'How much notice is needed?',
    'How long is the notice period?',
    ...(action === '' || action.startsWith('be ') ? [] : [`How much notice is needed to ${action}?`]),
  ];
}

/**
 * "Send a message to Ada Kell." says to whom I send one. Below "How do I book the kitchen?", it also says whom I
 * contact for that.
 */
function instructionQuestions(
  sentence: TextRange,
  span: Span,
  spans: readonly Span[],
  context: Context,
  stated: string | null,
): string[] {
  const [, label = '', verb = ''] =
    /^(\s*(?:\p{Lu}[\p{L} ]{1,24}: |Please )?)(\p{Lu}\p{Ll}+|(?<=Please )\p{Ll}+) \S/u.exec(sentence.text) ?? [];
  const infinitive = verb.toLowerCase();
  if (!isVerb(infinitive) || baseFormOf(infinitive) !== infinitive || isAuxiliary.test(infinitive)) return [];
  // "Train R 17 does not run."
  const hasVerb = finite.test(sentence.text.replace(/ (?:if|when|that|which|who|before|after|until|what)\b.*/su, ''));
  if (hasVerb || takeStatementApart(sentence, spans, null) !== null) return [];
  const opening = `It ${presentOf(infinitive)}`;
  const rest = sentence.text.slice(label.length + verb.length);
  const start = sentence.start + label.length + verb.length - opening.length;
  const clause = { start, end: sentence.end, text: `${opening}${rest}` };
  const own = spans.filter((other) => other.start >= start).map((other) => ({ ...other, isSubject: false }));
  const asked = deriveQuestions(clause, span, own, { ...context, antecedent: 'I', protagonist: null });
  const purpose = /^How (?:do|can|may|should) I ([^?]+)\?$/u.exec(stated ?? '')?.[1];
  const isContact = span.kind === 'name' && contacting.test(infinitive);
  // "Export to PDF."
  const fitting = asked.filter((question) => span.kind !== 'name' || (isContact ? /^Who/u : /^Where/u).test(question));
  return [
    ...fitting.map((question) => question.replace(' does I ', ' do I ')),
    ...(isContact && purpose !== undefined ? [`Whom do I contact to ${purpose}?`, `Who do I ask to ${purpose}?`] : []),
  ];
}

const finite = /\b(?:is|are|was|were|has|does|do|can|may|must|will|should)\b/u;
const contacting = /^(?:send|write|call|phone|ring|contact|ask|tell|email|mail|see|message|talk|speak|turn|visit)$/u;
const isAuxiliary = /^(?:be|is|are|was|were|do|does|did|have|has|had|can|may|must|will|shall)$/u;

/** "Bicycles need a ticket, which costs $3." says what the ticket costs. */
function ofRelativeClause(sentence: TextRange, span: Span, spans: readonly Span[], context: Context): string[] {
  const at = sentence.text.lastIndexOf(', which ', span.start - sentence.start);
  const noun = /\b(?:an?|the|one|your|our) ((?:[\p{Ll}-]+ )?[\p{Ll}-]+)$/u.exec(sentence.text.slice(0, at))?.[1];
  if (at < 0 || noun === undefined) return [];
  const subject = `The ${noun} `;
  const from = at + ', which '.length;
  const start = sentence.start + from - subject.length;
  const clause = { start, end: sentence.end, text: `${subject}${sentence.text.slice(from)}` };
  const own = spans.filter((other) => other.start >= sentence.start + from);
  return deriveQuestions(clause, span, own, { ...context, protagonist: null });
}

/** "Cancelling is free until 72 hours before your booking." says how long before. */
function delayQuestions(sentence: TextRange, span: Span, spans: readonly Span[], context: Context): string[] {
  if (span.kind !== 'quantity' || !durationUnit.test(span.text)) return [];
  const after = sentence.text.slice(span.end - sentence.start);
  const when = /^ ((?:before|after) [^,;.]+|ahead|in advance|beforehand|earlier|later)(?=[,;.]|$)/u.exec(after)?.[1];
  const statement = takeStatementApart(sentence, spans, context.antecedent);
  const before = sentence.text.slice(statement?.predicateStart ?? 0, span.start - sentence.start);
  const [, being, state] =
    /^(is|are|was|were) (.+?)(?: (?:only|up|at least|until|till|to|about))* $/u.exec(before) ?? [];
  if (when === undefined || statement === null || being === undefined || state === undefined) return [];
  return [`How long ${when} ${being} ${statement.subject} ${state}?`];
}

/** "Call the parking office on (555) 014-2230." */
function phoneQuestions(before: string, span: Span): string[] {
  const whom =
    /\b(?:call|phone|ring|dial|reach|contact) ([^,;:.]{2,50}?) (?:on|at|under|by phone on|via)(?: the number)? $/iu.exec(
      before,
    )?.[1];
  if (whom === undefined || !phonePattern.test(span.text)) return [];
  return [
    `What is the phone number of ${whom}?`,
    isPersonName(whom) ? `Under which number is ${whom} reached?` : `Which number do I call for ${whom}?`,
    `What is the number of ${whom}?`,
    `On which number can I call ${whom}?`,
  ];
}
