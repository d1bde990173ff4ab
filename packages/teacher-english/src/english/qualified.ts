import { negated } from '@engraft/learning/parts';

/** Words without which what is left would say something else, those that deny among them. */
export const qualified = new RegExp(
  `${negated.source}|\\b(?:only|before|after|until|till|since|than|most|under|over|above|below|up|about|around|almost|nearly|between)\\b`,
  'iu',
);
