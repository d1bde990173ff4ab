import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainText, readPassage } from './plainText.js';

function sentences(passage: string): string[] {
  return plainText(passage)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim());
}

test('what moved, and what goes on behind a colon, is no key of anything', () => {
  const list = '# Varn 3.2 release\n\n- Changed\n  - Default port moved from 8000 to 8443\n  - Dinner at 18:15\n';
  const said = sentences(list);
  assert.ok(
    said.some((line) => line.includes('Default port moved from 8000 to 8443.')),
    said.join('\n'),
  );
  assert.ok(said.includes('Dinner is at 18:15.'));
  const invoice = 'Invoice No. 7\n\nBill to: Hotel Almira\nDue date: 11 June 2025\n';
  const lines = sentences(invoice);
  assert.ok(lines.includes('Bill to: Hotel Almira.'), lines.join('\n'));
  assert.ok(lines.includes('The due date of Invoice No. 7 is 11 June 2025.'));
});

test('a part of a list with a name of several words has no capital in its sentence', () => {
  const said = sentences('# Camp Rowan\n\n- Costs\n  - Pocket money: no more than $30\n');
  assert.ok(said.includes('The pocket money is no more than $30.'), said.join('\n'));
});

test('clauses are told without their numbers', () => {
  const said = sentences(
    'AGREEMENT\n\n7. Liability\n7.5 The total liability is limited to $50,000.\n7.6 Courts of Rotterdam decide.\n',
  );
  assert.ok(said.includes('The total liability is limited to $50,000.'), said.join('\n'));
});

test('what is new in a release, and who made it, is told', () => {
  const { told } = readPassage(
    '# Varn\n\n## 3.2.0 (2025-03-18)\n\n- The upload limit is now 250 MB (was 100 MB)\n' +
      '- Default port moved from 8000 to 8443\n- Korean translation by Min-ji Park\n- Export to PDF\n',
  );
  assert.deepEqual(
    [...told].map(([sentence, { answer }]) => [sentence, answer]),
    [
      // A title tells nothing.
      ['Varn', ''],
      ['Version 3.2.0 was released on 2025-03-18.', '2025-03-18'],
      ['The upload limit is now 250 MB (was 100 MB).', '250 MB'],
      ['Default port moved from 8000 to 8443.', '8443'],
      ['Korean translation by Min-ji Park.', 'Min-ji Park'],
    ],
  );
});
