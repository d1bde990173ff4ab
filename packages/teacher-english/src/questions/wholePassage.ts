/** Facts about a whole passage, which hold while its sentences are read one after another. */
import { setImmediate } from 'node:timers/promises';
import type { Chunk, TextRange, Told } from '@engraft/learning/parts';
import type { PassageView } from '../spans/salience.js';
import { findSpans, type Span } from '../spans/spans.js';
import { fullNamesOf, introducedBy, protagonistOf, type FullNames } from '../spans/statement.js';
import { isAboutDocument, isDocument, isShoutedTitle, protagonistOfDocument, titleOf } from './documentProse.js';
import { codesIn, holdersIn, type Holders } from './namesInDocument.js';
import type { Template } from './relations/relation.js';
import { relationTable } from './templates.js';

export interface WholePassage {
  readonly text: string;
  readonly told: ReadonlyMap<string, Told>;
  readonly isDocument: boolean;
  /** The document's title, if there is one. */
  readonly title: string | null;
  readonly protagonist: string | null;
  readonly fullNames: FullNames;
  /** See `codesIn`. */
  readonly codes: readonly string[];
  readonly holders: Holders;
  readonly relations: readonly Template[];
  readonly firstSentence: TextRange | undefined;
  /** Names that the first sentence introduces as the passage's topic. */
  readonly introduced: readonly string[];
  readonly view: PassageView;
}

export async function wholePassage(
  text: string,
  chunks: readonly Chunk[],
  told: ReadonlyMap<string, Told>,
): Promise<WholePassage> {
  const names = await namesIn(text, chunks, told);
  const isOfDocument = isDocument(text, told);
  const protagonist = isOfDocument ? protagonistOfDocument(text, told, names) : protagonistOf(text, names);
  const firstSentence = chunks[0]?.sentences[0];
  const opening = chunks[0]?.sentences.find((sentence) => !isShoutedTitle(sentence.text, text));
  return {
    text,
    told,
    isDocument: isOfDocument,
    title: titleOf(text, told),
    protagonist,
    fullNames: fullNamesOf(names),
    codes: codesIn(told),
    holders: isOfDocument ? holdersIn(text, told) : new Map<string, string>(),
    relations: relationTable(text),
    firstSentence,
    introduced: opening === undefined ? [] : introducedBy(opening, findSpans(opening, text)),
    view: { text, opening: opening?.text ?? '', protagonist },
  };
}

/** All names of the passage, but for those in the cells of its tables. */
async function namesIn(passage: string, chunks: readonly Chunk[], told: ReadonlyMap<string, Told>): Promise<string[]> {
  const isAbout = isAboutDocument(told);
  const names: string[] = [];
  for (const sentence of chunks.flatMap(({ sentences }) => sentences)) {
    if (isAbout(sentence.text) && !isShoutedTitle(sentence.text, passage))
      names.push(...namesOf(findSpans(sentence, passage)));
    await setImmediate();
  }
  return names;
}

export function namesOf(spans: readonly Span[]): string[] {
  return spans.filter(({ kind }) => kind === 'name' || kind === 'code').map(({ text }) => text);
}
