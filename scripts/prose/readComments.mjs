// Comments that have lines of their own; one behind code is the formatter's business.

/** `[{ number, line }]`. */
export function commentLinesOf(code) {
  return code
    .split('\n')
    .map((line, index) => ({ number: index + 1, line }))
    .filter(({ line }) => /^\s*(\/\*\*|\*|\/\/)/.test(line));
}

/** `[{ number, comment }]`: the text of each `/** … *\/`. */
export function docCommentsOf(code) {
  return [...code.matchAll(/\/\*\*[ \t]*(?:\n\s*\*\s*)?(.*?)\*\//gs)].map((match) => ({
    number: code.slice(0, match.index).split('\n').length,
    comment: match[1].trim(),
  }));
}
