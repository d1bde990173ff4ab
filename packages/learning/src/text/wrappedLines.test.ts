import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainText } from './plainText.js';

test('a block of code may have blank lines', () => {
  const code =
    '```\nset -e\n\nnpm install --global tool --registry internal\nengraft serve --port 8080 and\n\nexit\n```';
  const wrapped = 'This line was wrapped at some width and goes on,\nas one can see.';
  for (const block of [code, '```npm install tool```', '~~~\n```\n\n~~~', '```js\nfoo```'])
    assert.equal(plainText(`${block}\n\n${wrapped}`), `${block}\n\n${wrapped.replace('\n', ' ')}`);
  assert.ok(plainText(`- \`\`\`js\n  a\n  \`\`\`\n\n${wrapped}`).endsWith(wrapped.replace('\n', ' ')));
});
