import { deriveSeed } from '@engraft/learning/parts';
import type { Paragraph } from '../squad/paragraphs.js';

/** One title in so many is kept apart, by its name, so that it is the same whatever else the file holds. */
const titlesPerHeldOutTitle = 20;

export interface ParagraphSplit {
  readonly training: readonly Paragraph[];
  /** Paragraphs with other titles: never trained on, for measuring. */
  readonly heldOut: readonly Paragraph[];
}

export function splitByTitle(paragraphs: readonly Paragraph[]): ParagraphSplit {
  const isHeldOut = ({ title }: Paragraph): boolean => deriveSeed(0, 'title', title) % titlesPerHeldOutTitle === 0;
  return {
    training: paragraphs.filter((paragraph) => !isHeldOut(paragraph)),
    heldOut: paragraphs.filter(isHeldOut),
  };
}
