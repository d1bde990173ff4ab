// The contents beside each page are the links of `docs/README.md`, under its second-level headings.
import { marked } from 'marked';

/** `[{ heading, links: [{ title, file }] }]`; files are relative to `docs/`. */
export function readContents(markdown) {
  const parts = [];
  for (const token of marked.lexer(markdown)) {
    if (token.type === 'heading' && token.depth === 2) parts.push({ heading: token.text, links: [] });
    marked.walkTokens([token], (inner) => {
      const isPage = inner.type === 'link' && /^[\w/-]+\.md$/.test(inner.href);
      if (isPage) parts.at(-1)?.links.push({ title: inner.text, file: inner.href });
    });
  }
  return parts.filter(({ links }) => links.length > 0);
}
