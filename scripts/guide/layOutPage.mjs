// The frame around each page: contents beside it, nothing from elsewhere, no script.
import { addressOfPage } from './addresses.mjs';
import { escapeHtml } from './escapeHtml.mjs';

export function layOutPage({ title, html, contents, file }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Engraft</title>
<link rel="stylesheet" href="/docs/guide/style.css">
</head>
<body>
<nav aria-label="Contents">
<p class="brand"><a href="/docs/guide">Engraft</a></p>
${contents.map((part) => contentsPart(part, file)).join('')}<p>Reference</p>
<ul><li><a href="/docs">HTTP API</a></li></ul>
</nav>
<main>
${html}</main>
</body>
</html>
`;
}

function contentsPart({ heading, links }, current) {
  const items = links.map(({ title, file }) => {
    const here = file === current ? ' aria-current="page"' : '';
    return `<li><a href="${addressOfPage(file)}"${here}>${escapeHtml(title)}</a></li>`;
  });
  return `<p>${escapeHtml(heading)}</p>\n<ul>${items.join('')}</ul>\n`;
}
