import { html, type Html } from './html.js';

/** Renders the Markdown of our descriptions: paragraphs, lists of `- `, and `code`. */
export function prose(markdown: string): Html {
  return html`${markdown.split(/\n{2,}/).map(block)}`;
}

/** Renders one line of it, without a paragraph around. */
export function inline(markdown: string): Html {
  return html`${markdown.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))}`;
}

function block(text: string): Html {
  const lines = text.split('\n');
  if (!lines.every((line) => line.startsWith('- '))) return html`<p>${inline(text)}</p>`;
  return html`<ul>
    ${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}
  </ul>`;
}
