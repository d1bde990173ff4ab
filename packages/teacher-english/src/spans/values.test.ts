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
    ['It opens 9:00-17:00.', ['time 9:00-17:00']],
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

test('a noun or a gerund stands before what is counted', () => {
  for (const [text, span] of [
    ['Answers come within 4 working days.', 'quantity 4 working days'],
    ['Parcels take 3–6 business days.', 'quantity 3–6 business days'],
    ['Transfers take 3 to 6 business days.', 'quantity 3 to 6 business days'],
    ['The inn has 9 guest rooms.', 'quantity 9 guest rooms'],
    ['The club has 25 staff members.', 'quantity 25 staff members'],
    ['The yard has 18 large parking spaces.', 'quantity 18 large parking spaces'],
    ['The plan has 15 user accounts and a logo.', 'quantity 15 user accounts'],
    ['The shop has 6 crew members.', 'quantity 6 crew members'],
    ['Visitors under 12 pay fees.', 'quantity 12 pay'],
    ['It has 30 visitors members like.', 'quantity 30 visitors'],
  ] as const)
    assert.equal(spansOf(text)[0], span, text);
});

test('areas, ranges and codes are found whole', () => {
  for (const [text, span] of [
    ['The loss was $(7) million.', 'money $(7) million'],
    ['The barn has 2,300 sq ft of floor.', 'quantity 2,300 sq ft'],
    ['The tank holds 35 m3 of oil.', 'quantity 35 m3'],
    ['The fan moves 90 m3/h of air.', 'quantity 90 m3/h'],
    ['The pool closed in Oct. 2018.', 'date Oct. 2018'],
    ['The pool opens in Feb 2021.', 'date Feb 2021'],
    ['Tea is 3–4:30 pm.', 'time 3–4:30 pm'],
    ['Tea is 11 a.m.–4 p.m. today.', 'time 11 a.m.–4 p.m.'],
    ['It works at −25 to +60 °C.', 'quantity −25 to +60 °C'],
    ['It rose 1.5 to 2.5 percent.', 'quantity 1.5 to 2.5 percent'],
    ['It costs 1.5 to 2.5 million €.', 'money 1.5 to 2.5 million €'],
    ['It works at 4 °C to 28 °C.', 'quantity 4 °C to 28 °C'],
    ['The fair is on June 2–4, 2024.', 'date June 2–4, 2024'],
    ['The fair is 2 to 4 June.', 'date 2 to 4 June'],
    ['The date moved from 2 to 4 June.', 'quantity 2'],
    ['Write to EH3 9QG soon.', 'code EH3 9QG'],
    ['The box is TGHU 305718-2.', 'code TGHU 305718-2'],
    ['The tax number is NL 482 1930 57.', 'code NL 482 1930 57'],
    ['Write to 30317-2044 soon.', 'code 30317-2044'],
    ['Take 1500 IU/day of it.', 'quantity 1500 IU/day'],
    ['They meet at 1:25 there.', 'time 1:25'],
  ] as const)
    assert.equal(
      spansOf(text).find((found) => /\d/u.test(found)),
      span,
      text,
    );
  assert.deepEqual(spansOf('The scale is 1:25 here.'), []);
  assert.ok(spansOf('In 1963 W. Orde sold it.').includes('date 1963'));
  assert.ok(!spansOf('The M2 8GB model is here.').includes('code M2 8GB'));
});

test('a number before a verb belongs to the name before it', () => {
  for (const [text, spans] of [
    ['The Harrow 70 turns at 40 degrees.', ['name Harrow 70', 'quantity 40 degrees']],
    ['Flight QB 512 leaves Turin at noon.', ['name Flight QB 512', 'name Turin', 'time noon']],
    ['Tram 9 stops near the mill.', ['name Tram 9']],
    ['At Harrow 12 stops are shut.', ['name Harrow', 'quantity 12 stops']],
    ['On Monday 12 leaves fell.', ['date Monday', 'quantity 12 leaves']],
    ['Add 5 drops of oil.', ['quantity 5 drops']],
  ] as const)
    assert.deepEqual(
      spansOf(text).filter((found) => !found.startsWith('phrase')),
      spans,
      text,
    );
});
