import type { AddedToken } from './addedTokens.js';

/** The characters that `tokenizers` matches with `\w`. */
const wordCharacter = String.raw`[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]`;
const beginsWithWord = new RegExp(`^${wordCharacter}`, 'u');
const endsWithWord = new RegExp(`${wordCharacter}$`, 'u');

/** Splits texts at their added tokens, as `tokenizers` does: from the left, at the longest token that matches. */
export class TokenSplitter {
  private readonly byContent: ReadonlyMap<string, AddedToken>;
  private readonly pattern: RegExp | undefined;

  constructor(tokens: readonly AddedToken[]) {
    this.byContent = new Map(tokens.map((token) => [token.content, token]));
    this.pattern = tokenPattern(tokens);
  }

  /** The tokens and the non-empty texts between them. */
  split(text: string): readonly (AddedToken | string)[] {
    const parts: (AddedToken | string)[] = [];
    let position = 0;
    let stripsNext = false;
    const addText = (end: number, stripsEnd: boolean): void => {
      let piece = text.slice(position, end);
      if (stripsNext) piece = piece.trimStart();
      if (stripsEnd) piece = piece.trimEnd();
      if (piece !== '') parts.push(piece);
    };
    for (const { 0: content, index } of this.pattern === undefined ? [] : text.matchAll(this.pattern)) {
      const token = this.byContent.get(content);
      const end = index + content.length;
      if (token === undefined || (token.singleWord && !standsAlone(text, index, end))) continue;
      addText(index, token.stripsLeft);
      parts.push(token);
      stripsNext = token.stripsRight;
      position = end;
    }
    addText(text.length, false);
    return parts;
  }
}

/** A pattern that finds any of `tokens`, the longest first; `undefined` if there are none. */
export function tokenPattern(tokens: readonly AddedToken[]): RegExp | undefined {
  if (tokens.length === 0) return undefined;
  const contents = tokens.map((token) => token.content).sort((a, b) => b.length - a.length);
  return new RegExp(contents.map((content) => content.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g');
}

function standsAlone(text: string, start: number, end: number): boolean {
  // Two code units hold any character.
  return (
    !endsWithWord.test(text.slice(Math.max(0, start - 2), start)) && !beginsWithWord.test(text.slice(end, end + 2))
  );
}
