import { deriveSeed } from '@engraft/learning/parts';
import type { Paragraph } from '../squad/paragraphs.js';

/** One in this many titles is held out. Its name decides, so that it is the same whatever else the file holds. */
const titlesPerHeldOutTitle = 20;

export interface ParagraphSplit {
  readonly training: readonly Paragraph[];
  /** Paragraphs with other titles. They are never trained on, and are used to measure. */
  readonly heldOut: readonly Paragraph[];
}

export function splitByTitle(paragraphs: readonly Paragraph[]): ParagraphSplit {
  const isHeldOut = ({ title }: Paragraph): boolean => deriveSeed(0, 'title', title) % titlesPerHeldOutTitle === 0;
  return {
    training: paragraphs.filter((paragraph) => !isHeldOut(paragraph)),
    heldOut: paragraphs.filter(isHeldOut),
  };
}
