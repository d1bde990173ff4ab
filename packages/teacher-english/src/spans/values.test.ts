import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentencesOf } from '@engraft/learning/parts';
import { findSpans } from './spans.js';

function spansOf(text: string): string[] {
  return sentencesOf(text).flatMap((sentence) => findSpans(sentence, text).map((span) => `${span.kind} ${span.text}`));
}

test('numbers in several parts are one value', () => {
  for (const [text, span] of [
    ['It measures 120 x 80 cm.', 'quantity 120 x 80 cm'],
    ['It measures 30 cm × 20 cm × 10 cm.', 'quantity 30 cm × 20 cm × 10 cm'],
    ['It has 1920x1080 pixels.', 'quantity 1920x1080 pixels'],
    ['It is 5 ft 11 in tall.', 'quantity 5 ft 11 in'],
    ['It is 5\'11" tall.', 'quantity 5\'11"'],
    ['It dries in 2 h 30 min.', 'quantity 2 h 30 min'],
    ['It weighs 3 lb 4 oz.', 'quantity 3 lb 4 oz'],
    ["It costs CHF 5'000 a month.", "money CHF 5'000"],
    ['It costs EUR 1.250,50 in all.', 'money EUR 1.250,50'],
    ['It costs 1.250.000 euros.', 'money 1.250.000 euros'],
    ['It costs A$40.', 'money A$40'],
    ["It has 12'500 members.", "quantity 12'500 members"],
    ['It grew by 3.5 percentage points.', 'quantity 3.5 percentage points'],
    ['It opened on Mar 4, 2025.', 'date Mar 4, 2025'],
    ['It opened on 4 Mar 2025.', 'date 4 Mar 2025'],
    ['It was signed on Sept. 12, 2019.', 'date Sept. 12, 2019'],
    ['It happened on 04.03.2025.', 'date 04.03.2025'],
    ['It began at 2025-03-04T10:15:00Z.', 'date 2025-03-04T10:15:00Z'],
    ['It ended at 2025-03-04 10:15:00.123+02:00.', 'date 2025-03-04 10:15:00.123+02:00'],
    ['It lasts until 10:15:30.', 'time 10:15:30'],
    ['Dial +44 20 7946 0958.', 'code +44 20 7946 0958'],
    ['Dial (020) 7946 0958.', 'code (020) 7946 0958'],
    ['Dial +1 (415) 555-0132.', 'code +1 (415) 555-0132'],
    ['Dial 1-800-555-0199 now.', 'code 1-800-555-0199'],
    ['Dial (0)20 7946 0958.', 'code (0)20 7946 0958'],
    ['It works at 5 to 35 °C.', 'quantity 5 to 35 °C'],
    ['It makes 41 dB(A) at most.', 'quantity 41 dB(A)'],
    ['Dial 01632 960 983 today.', 'code 01632 960 983'],
    ['Dial 0171/5550142.', 'code 0171/5550142'],
    ['Pay to DE89 3704 0044 0532 0130 00.', 'code DE89 3704 0044 0532 0130 00'],
    ['It is sold as 978-3-16-148410-0.', 'code 978-3-16-148410-0'],
  ] as const)
    assert.equal(spansOf(text)[0], span, text);
});

test('no word is glued to a number that it does not belong to, nor a number to its clause', () => {
  const quantities = (text: string): string[] => spansOf(text).filter((span) => span.startsWith('quantity '));
  for (const opening of ['7.5 The', '7.5. The', '§ 7.5 The', '(7) The'])
    assert.deepEqual(quantities(`${opening} total liability is limited to 40 euros.`).at(-1), 'quantity 40 euros');
  assert.deepEqual(quantities('7.5 The total liability is limited.'), []);
  assert.deepEqual(quantities('Clause 7.5 limits it.'), ['quantity 7.5']);
  assert.deepEqual(quantities('It holds 62 hand-coloured plates.'), ['quantity 62 hand-coloured plates']);
  assert.deepEqual(quantities('It holds 62 hand-coloured ones and 24 two-bedroom flats.'), [
    'quantity 62 hand-coloured ones',
    'quantity 24 two-bedroom flats',
  ]);
  assert.deepEqual(quantities('It is a 12-page leaflet.'), ['quantity 12-page']);
  assert.deepEqual(quantities('It needs 8 GB of memory, 3 Watts and 20 Euro.').slice(0, 1), ['quantity 8 GB']);
});

test('a number keeps its sign, its fraction, its power and its other end', () => {
  for (const [text, span] of [
    ['Growth was −2.3 %.', 'quantity −2.3 %'],
    ['Growth was +2.3%.', 'quantity +2.3%'],
    ['The loss was -$500.', 'money -$500'],
    ['The balance is $-20.', 'money $-20'],
    ['It has 6.022×10²³ mol⁻¹.', 'quantity 6.022×10²³ mol⁻¹'],
    ['The loss was −500 €.', 'money −500 €'],
    ['It takes 2 1/4 lb of butter.', 'quantity 2 1/4 lb'],
    ['It has .5 mg in it.', 'quantity .5 mg'],
    ['It costs $.50 each.', 'money $.50'],
    ['It moves at 3×10^8 m/s.', 'quantity 3×10^8 m/s'],
    ['It has 10⁸ cells.', 'quantity 10⁸ cells'],
    ['It weighed 54.2 ± 8.1 kg.', 'quantity 54.2 ± 8.1 kg'],
    ['It is right to ±5%.', 'quantity ±5%'],
    ['The rate is 5-10%.', 'quantity 5-10%'],
    ['The rate is 5%–10 %.', 'quantity 5%–10 %'],
    ['It costs $5–$10.', 'money $5–$10'],
    ['It costs $1.2-1.5 million.', 'money $1.2-1.5 million'],
    ['It costs 5-10 €.', 'money 5-10 €'],
    ['It costs 7,50–8,50 €.', 'money 7,50–8,50 €'],
    ['It weighs 2.5–3.5 kg.', 'quantity 2.5–3.5 kg'],
    ['It has 1,200-1,500 seats.', 'quantity 1,200-1,500 seats'],
  ] as const)
    assert.deepEqual(
      spansOf(text).filter((found) => /\d/u.test(found)),
      [span],
      text,
    );
});

test('a part of an expression that no pattern knows is no value', () => {
  for (const text of ['It is 2+2 here.', 'It holds 2^6 cells.', 'It lost -1-2-$5.'])
    assert.deepEqual(
      spansOf(text).filter((found) => /^(?:quantity|money) /u.test(found)),
      [],
      text,
    );
});

test('a hyphen or a dash that is no sign leaves a value as it is', () => {
  for (const [text, spans] of [
    ['It is a 3-year plan.', ['quantity 3-year']],
    ['It is a 3–5-year plan.', ['quantity 3–5-year']],
    ['It was on 2026-11-30.', ['date 2026-11-30']],
    ['Dial 555-0142.', ['quantity 555-0142']],
    ['It lasted 1990–1995.', ['date 1990', 'date 1995']],
    ['It opens 9:00-17:00.', ['time 9:00', 'time 17:00']],
    ['It won 3–1 in 2009.', ['quantity 3–1', 'date 2009']],
    ['In mid-1990 it closed.', ['date 1990']],
    ['The tank—20 litres—is here.', ['quantity 20 litres']],
    ['It costs $5/month.', ['money $5']],
    ['It was the 2019-20 season.', ['quantity 2019-20 season']],
  ] as const)
    assert.deepEqual(
      spansOf(text).filter((found) => /\d/u.test(found)),
      spans,
      text,
    );
});
