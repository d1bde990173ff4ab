// The prose of a Markdown page, without code and tables.
import { marked } from 'marked';

/** `[{ number, line }]`: the lines that a writer can wrap. */
export function linesOf(markdown) {
  let isCode = false;
  return markdown.split('\n').flatMap((line, index) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    return isFence || isCode || /^\s*(\||#|!\[)/.test(line) ? [] : [{ number: index + 1, line }];
  });
}

/** The text of each paragraph and list item, with one word in place of each piece of code. */
export function proseOf(markdown) {
  const texts = [];
  marked.walkTokens(marked.lexer(markdown), (token) => {
    const isText = token.type === 'paragraph' || (token.type === 'text' && token.tokens !== undefined);
    if (isText) texts.push(plain(token.tokens));
  });
  return texts;
}

function plain(tokens) {
  return tokens
    .map((token) => {
      if (token.type === 'codespan') return 'code';
      return token.tokens === undefined ? token.text : plain(token.tokens);
    })
    .join('')
    .replaceAll(/\s+/g, ' ');
}

export function sentencesOf(paragraph) {
  return paragraph.split(/(?<=[.!?;:])["')*”]*\s/);
}
