// Markdown → HTML by marked, with three differences: headings have the anchors that GitHub gives them, tables may be
// scrolled on a narrow screen, and raw HTML is shown as text, so that a page holds only what its Markdown says.
import { Marked } from 'marked';
import { escapeHtml } from './escapeHtml.mjs';

/** `addressOf` says where a link leads; `null` leaves its text without a link. */
export function renderMarkdown(markdown, addressOf) {
  const slugs = new Map();
  let title = '';
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        if (depth === 1) title = plainText(text);
        return `<h${depth} id="${anchorOf(text, slugs)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = addressOf(href);
        return address === null ? text : `<a href="${escapeHtml(address)}">${text}</a>`;
      },
      image({ href, text }) {
        const address = addressOf(href);
        if (address === null || !address.startsWith('/')) throw new Error(`${href} is no picture of the guide`);
        return `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}">`;
      },
      table(token) {
        const row = (cells) => `<tr>${cells.map((cell) => this.tablecell(cell)).join('')}</tr>\n`;
        const body = token.rows.map(row).join('');
        // A table may be wider than a phone: its box is scrolled, also by keyboard.
        return `<div class="table" tabindex="0"><table>\n<thead>${row(token.header)}</thead>\n<tbody>${body}</tbody></table></div>\n`;
      },
      tablecell({ tokens, header }) {
        const text = this.parser.parseInline(tokens);
        return header ? `<th scope="col">${text}</th>` : `<td>${text}</td>`;
      },
      html: ({ text }) => escapeHtml(text),
    },
  });
  const html = marked.parse(markdown);
  return { title, html };
}

/** As GitHub makes it of a heading: small letters, no punctuation, hyphens for spaces, a number for a repetition. */
export function anchorOf(heading, slugs = new Map()) {
  const slug = plainText(heading)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
  const count = slugs.get(slug) ?? 0;
  slugs.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

function plainText(inline) {
  return inline.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
}
