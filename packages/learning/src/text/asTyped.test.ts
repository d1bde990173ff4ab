import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { readBenchPassages } from '../testing/passages.js';
import { asTyped } from './asTyped.js';
import { plainText } from './plainText.js';

const structured = `# Tarn & Sons <espresso> machine

- Weight: 8.4 kg
- Sold as "Night Owl" since 4 May 2021

| Room | Floor |
|---|---|
| Anna's room | 2 |

It costs $249 in Orlo's shop; run \`npm start\` for a quote.
Café Zoë opens at 7:00.`;

/** One way to write a character that looks, or does not look, like it. */
const disguises: Readonly<Record<string, readonly string[]>> = {
  ' ': ['\u00A0', '\u2009', '\u3000', '\t', '&nbsp;', '&#160;', '&#xA0;', '&amp;nbsp;', ' \u00A0', '\u202F\u202F'],
  '\n': ['\r\n', '\f', '\u2028', '\v', '&#10;'],
  '&': ['&amp;', '&#38;', '&amp;amp;'],
  '<': ['&lt;', '&#x3C;'],
  '"': ['“', '”', '&quot;', '&ldquo;', '&#8221;'],
  "'": ['’', '&rsquo;', '&#39;', '&#146;'],
  é: ['e\u0301', '&eacute;', '&#233;'],
  a: ['&#97;'],
};
const unseen = [
  '\0',
  '\u0007',
  '\u00AD',
  '\u200B',
  '\u200D',
  '\u2060',
  '\uFEFF',
  '\u202E',
  '&shy;',
  '\uFE0F',
  '\uFFFC',
];

/** The passage as other programs could have written it, by numbers drawn for each of its characters. */
function disguised(passage: string, draws: readonly number[]): string {
  const inCode = [...passage.matchAll(/`[^`]+`/gu)].map(({ index, 0: code }) => [index, index + code.length] as const);
  return Array.from(passage)
    .map((character, at) => {
      if (inCode.some(([start, end]) => at >= start && at < end)) return character;
      const draw = draws[at % draws.length] ?? 0;
      const isInWord = /^\p{L}\p{L}$/u.test(passage.slice(at, at + 2));
      const marks = isInWord && draw % 3 === 0 ? (unseen[draw % unseen.length] ?? '') : '';
      const others = disguises[character] ?? [];
      return `${draw % 2 === 0 ? (others[draw % others.length] ?? character) : character}${marks}`;
    })
    .join('');
}

test('a passage and its disguised twin give the same plain text', async () => {
  const texts = (await readBenchPassages('passages.jsonl')).slice(0, 10).map(({ passage }) => passage);
  const handbooks = (await readBenchPassages('structured.jsonl')).map(({ passage }) => passage);
  const passage = fc.constantFrom(structured, ...texts, ...handbooks);
  const draws = fc.array(fc.nat(1000), { minLength: 1, maxLength: 199 });
  fc.assert(
    fc.property(passage, draws, fc.constantFrom('', '\uFEFF'), (text, drawn, mark) => {
      assert.equal(plainText(mark + disguised(text, drawn)), plainText(text));
    }),
  );
});

test('quoting, and the lines it is broken into, make no difference', async () => {
  for (const { id, passage } of await readBenchPassages('passages.jsonl')) {
    const lines = wrapped(passage, 72);
    for (const mark of ['> ', '>', '> > ', '>> ']) {
      const quoted = lines.map((line) => mark + line).join('\r\n');
      assert.equal(plainText(quoted), plainText(lines.join('\n')), id);
      assert.doesNotMatch(plainText(quoted), />/u);
    }
  }
});

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

test('to undo it twice is to undo it once, and leaves nothing that cannot be seen', () => {
  const part = fc.constantFrom(
    ...['a', 'B', 'e\u0301', '1', '.', ';', '-', '$', ' ', '\t', '\n', '\r', '\u2028', '\u00A0', '\u3000', '`', '```'],
    ...['&', 'amp;', '&nbsp;', '&#96;', '&gt;', '&#38;', 'x41;', '&semi;', '&shy;', '>', '> ', '“', '’', '\u2011'],
    ...['\0', '\x1b[31m', '\x1b', '\u00AD', '\u200B', '\u200D', '\uFEFF', '\uFE0F', '\uD83D', '\uDC69', '\uFB01'],
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const once = asTyped(parts.join(''));
      assert.equal(asTyped(once), once);
      // Among the parts put together here, only the picture U+1F469 has a form to choose.
      assert.doesNotMatch(
        once,
        /(?![\n\t])\p{Cc}|(?<!\u{1F469})[\uFE0F\u200D]|[\u00AD\u200B\uFEFF\u00A0\u3000\u2028]/u,
      );
    }),
    { numRuns: 2_000 },
  );
});

test('what is typed stays as it is, to the last character', async () => {
  for (const file of ['passages.jsonl', 'third.jsonl', 'structured.jsonl', 'handbooks.jsonl']) {
    for (const { passage } of await readBenchPassages(file)) assert.equal(asTyped(passage), passage);
  }
  const line = fc.stringMatching(/^[A-Za-z0-9äéñßøčŁ你かक£€$%°½²,.:;!?"'()*_#|&@/+=<–— -]{0,80}$/u);
  const typed = fc.array(line, { maxLength: 6 }).map((lines) => lines.join('\n'));
  fc.assert(fc.property(typed, (text) => /&#?\w+;/u.test(text) || asTyped(text) === text));
  for (const text of [
    'AT&T and R&D; a < b > c',
    'Use `&nbsp;` and `\ta`.',
    '```\n> a\n&amp;\t“b”\n```',
    '  - nested\n\t- more',
  ])
    assert.equal(asTyped(text), text);
});

test('joiners stay where they spell words or pictures', () => {
  for (const text of [
    'می‌خواهم کتاب‌ها را بخوانم', // Persian: U+200C
    'ශ්‍රී ලංකාව', // Sinhala: U+200D
    'അവന്‍ വന്നു', // Malayalam: U+200D at the end of a word
    'র‍্যাব', // Bengali
    '👩🏽‍⚕️ met 👨‍👩‍👧 at 🏴󠁧󠁢󠁥󠁮󠁧󠁿, room 3️⃣ ❤️',
    '葛\u{E0100}城市',
  ])
    assert.equal(asTyped(text), text);
  assert.equal(asTyped('Ve\u200Clo\u200Dna\uFE0F'), 'Velona');
});

test('values and names come out whole', () => {
  for (const [given, wanted] of [
    ['It weighs 730&nbsp; grams.', 'It weighs 730 grams.'],
    ['Marder, Sons &amp;amp; Co', 'Marder, Sons & Co'],
    ['Ve\0lona', 'Velona'],
    ['Kes\u00AD\ntral', 'Kestral'],
    ['Model LX\u2011204', 'Model LX-204'],
    ['1990&#150;2000', '1990–2000'],
    ['1990\u00962000', '1990–2000'],
    ['of\uFB01ce', 'office'],
    ['\u001B[1mTarn\u001B[0m', 'Tarn'],
    ['Anna´s', "Anna's"],
    ['> `a`\tb', '`a` b'],
    ['&lt;b&gt; &copy;', '<b> ©'],
  ] as const)
    assert.equal(asTyped(given), wanted, given);
});

test('who quotes whom is told apart, and a number compared with is not quoted', () => {
  assert.equal(
    asTyped('Ada wrote:\n> The hall costs 40 euros\n>> Ola: it was 30.\n> now.\nI agree.'),
    'Ada wrote:\n\nThe hall costs 40 euros\n\nOla: it was 30.\n\nnow.\n\nI agree.',
  );
  assert.equal(
    plainText('> The price of a day in the large hall of Varn was\nraised\n> to 40 euros.'),
    'The price of a day in the large hall of Varn was raised\n\nto 40 euros.',
  );
  assert.equal(asTyped('> 90: excellent\n> 80: good'), '> 90: excellent\n> 80: good');
  assert.equal(asTyped('> See:\n> ```\n> > a\n> ```\n> End'), 'See:\n```\n> a\n```\nEnd');
});

test('a passage that is made to take time takes none that anybody notices', () => {
  const length = 16_000;
  for (const part of [
    '&amp',
    '&a',
    ';',
    '&#38;#38;',
    ' ',
    '\u00A0a',
    '`',
    '` ',
    '```\n',
    '>',
    '>a\n',
    '\u200D',
    '\x1b[1;',
    '👩\u200D',
  ]) {
    assert.ok(asTyped(part.repeat(length / part.length)).length <= length);
  }
});
