import assert from 'node:assert/strict';
import test from 'node:test';
import { readPassage } from '../plainText.js';
import { copulaOf, said } from './said.js';

test('only a time of what happens is said with "at"', () => {
  assert.equal(said('First bus', 'Mill Lane', '5:42').text, 'The first bus of Mill Lane is at 5:42.');
  assert.equal(said('Rating', 'Tarn 3', '4.75').text, 'The rating of Tarn 3 is 4.75.');
  assert.equal(said('Duration', 'Tarn 3', '1:30').text, 'The duration of Tarn 3 is 1:30.');
  assert.equal(said('Departure', 'IC 3', '6.10').text, 'The departure of IC 3 is 6.10.');
  assert.equal(said('Departure', 'IC 3', '6.10 pm').text, 'The departure of IC 3 is at 6.10 pm.');
});

test('prices, ratings and durations of lists and tables are no times of day', () => {
  for (const passage of [
    '# Tarn 3 Tour\n\n- Rating: 4.75\n- Duration: 1:30\n- Price: 12.50\n',
    '# Menu\n\n| Dish | Lunch | Supper |\n|---|---|---|\n| Leek soup | 12.50 | 14.50 |\n| Rye bread | 2.50 | 3.50 |\n',
    '# Results\n\n| Runner | Place | Time |\n|---|---|---|\n| Ada Kell | 1 | 12.50 |\n| Emma Lind | 2 | 1:30 |\n',
  ]) {
    const { text } = readPassage(passage);
    assert.doesNotMatch(text, /\bat \d/u);
  }
});

test('verbs have the number of nouns in "s"', () => {
  for (const noun of ['menus', 'opening menus', 'skis', 'colours']) assert.equal(copulaOf(noun), 'are', noun);
  for (const noun of ['bus', 'night bus', 'analysis', 'lens', 'glass', 'status'])
    assert.equal(copulaOf(noun), 'is', noun);
});
