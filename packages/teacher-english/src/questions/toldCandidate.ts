import { deriveSeed, randomNumbers, type TextRange, type Told } from '@engraft/learning/parts';
import type { Candidate } from './candidate.js';
import { clozeQuestions } from './cloze.js';
import { keywordQuestions } from './keywords.js';
import { salienceFeatures, type PassageView } from '../spans/salience.js';
import { kindOfAnswer, type Span } from '../spans/spans.js';
import { cuedIn, relationsOf } from './templates.js';
import type { Template } from './relations/relation.js';
import { subjectsOfTold, toldQuestions } from './toldQuestions.js';
import { rules } from '../rules.js';

/** The one thing to ask for in a sentence that was made of a cell: its value. */
export function toldCandidate(
  { chunk, sentence }: Pick<Candidate, 'chunk' | 'sentence'>,
  told: Told,
  table: readonly Template[],
  view: PassageView,
): Candidate[] {
  if (told.kind === 'title') return [];
  const at = sentence.text.lastIndexOf(told.answer);
  if (at < 0 || told.answer === '') return [];
  const start = sentence.start + at;
  const span: Span = {
    kind: kindOfAnswer(told.answer),
    start,
    end: start + told.answer.length,
    text: told.answer,
    isSubject: false,
  };
  const subjects = subjectsOfTold(told);
  const random = randomNumbers(deriveSeed(0, 'keywords', span.start, span.text));
  const nothing: TextRange = { start: 0, end: 0, text: '' };
  return [
    {
      chunk,
      sentence,
      span,
      // Such a sentence stands alone, and needs none before it.
      cloze: clozeQuestions(sentence, nothing, span, [span]),
      derived: [],
      relations:
        isValue(span) && told.kind === 'attribute' && told.moment === null
          ? relationsOf(cuedIn(table, sentence), sentence, span, subjects.filter(isNamed))
          : [],
      keywords: keywordQuestions(sentence, span, [span], subjects, rules.keywordsPerFact, random),
      tabled: toldQuestions(told, span.kind),
      stated: null,
      document: null,
      about: `${view.protagonist ?? ''} ${sentence.text}`,
      features: salienceFeatures(span, sentence, [span], view),
      salience: rules.toldSalience,
    },
  ];
}

/** The usual wordings are those for things with a name. */
function isNamed(subject: string): boolean {
  return /\p{Lu}/u.test(subject);
}

/** A table of words says with its keys what they are. */
function isValue({ kind }: Span): boolean {
  return ['money', 'quantity', 'date', 'time'].includes(kind);
}
