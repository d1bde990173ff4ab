import { negated } from '@engraft/learning/parts';

/** Words that change the meaning if they are left out, including negations. */
export const qualified = new RegExp(
  `${negated.source}|\\b(?:only|before|after|until|till|since|than|most|under|over|above|below|up|about|around|almost|nearly|between)\\b`,
  'iu',
);
