import assert from 'node:assert/strict';
import test from 'node:test';
import { plainText } from '../plainText.js';

test('a change is said by its own words, and not as a value of "new"', () => {
  const passage =
    "# Orlo: what's new\n\n## Version 5.3 – 9 May 2025\n- **New:** notes can be shared with 12 people\n" +
    '- **New:** a reading mode, designed by Ada Kell\n- **Fixed:** photos no longer turn\n\n**v5.2** - Released 2025-04-22T14:30:00Z\n- Note: logs are kept\n';
  assert.deepEqual(sentencesIn(passage), [
    'Orlo',
    'Version 5.3 was released on 9 May 2025.',
    'Notes can be shared with 12 people.',
    'New: a reading mode, designed by Ada Kell.',
    'Fixed: photos no longer turn.',
    'Version 5.2 was released on 2025-04-22T14:30:00Z.',
    'Logs are kept.',
  ]);
  assert.deepEqual(
    sentencesIn('# Orlo 3\n- Delay: interest is due after a week\n')[1],
    'Delay: interest is due after a week.',
  );
});

function sentencesIn(passage: string): string[] {
  return plainText(passage)
    .split('\n')
    .filter((line) => line.trim() !== '');
}

test('a line directly above keys is their title, at the start or where it names something', () => {
  const text = plainText(
    'Orla T4 desk fan\nNoise: 31 dB\nColour: grey\n\nOrla T5 desk fan\nNoise: 29 dB\nColour: blue\n',
  );
  assert.match(text, /The noise of the Orla T4 desk fan is 31 dB\./u);
  assert.match(text, /The colour of the Orla T5 desk fan is blue\./u);
  const talk = 'They met again\nAnna: Are you well?\nBo: Yes, thanks.';
  assert.equal(plainText(talk), talk);
});
