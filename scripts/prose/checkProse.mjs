// Checks the style of our prose: Markdown, and the comments in code. `npm test` runs it; cspell checks the spelling.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/steps.mjs';
import { linesOf, proseOf, sentencesOf } from './readMarkdown.mjs';
import { commentLinesOf, docCommentsOf } from './readComments.mjs';

const maxLineChars = 120;
/** A clause counts by itself: colons and semicolons end a sentence here. */
const maxSentenceWords = 40;
/** Written by programs, or data. */
const leftOut = /^(bench\/results|bench\/\.peers|docs\/api\/coverage\.md|models\/recipe\/data|THIRD_PARTY\.md)/;

const problems = [];
for (const file of filesIn('')) {
  const text = readFileSync(join(root, file), 'utf8');
  if (file.endsWith('.md')) checkMarkdown(file, text);
  else if (/\.(ts|tsx|mjs)$/.test(file)) checkComments(file, text);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function checkMarkdown(file, text) {
  for (const { number, line } of linesOf(text))
    if (line.length > maxLineChars && canBreak(line)) problems.push(`${file}:${number} is ${line.length} wide`);
  for (const sentence of proseOf(text).flatMap(sentencesOf)) {
    const words = sentence.match(/\p{L}[\p{L}\p{N}'’-]*/gu)?.length ?? 0;
    if (words > maxSentenceWords) problems.push(`${file}: a sentence of ${words} words: ${sentence.slice(0, 80)}…`);
  }
}

function checkComments(file, text) {
  for (const { number, line } of commentLinesOf(text))
    if (line.length > maxLineChars && canBreak(line)) problems.push(`${file}:${number} is ${line.length} wide`);
  for (const { number, comment } of docCommentsOf(text))
    if (/^(Of|What)\b/.test(comment)) problems.push(`${file}:${number} begins with a clause: begin with the subject`);
}

/** Whether there is a space at which the line would fit; a long address has none. */
function canBreak(line) {
  return line.trim().lastIndexOf(' ', maxLineChars) > line.trim().indexOf(' ');
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (leftOut.test(name)) return [];
    if (entry.isDirectory()) return isMade(entry.name) ? [] : filesIn(name);
    return entry.isFile() ? [name] : [];
  });
}

function isMade(name) {
  return name === 'node_modules' || name === 'dist' || name.startsWith('.');
}
