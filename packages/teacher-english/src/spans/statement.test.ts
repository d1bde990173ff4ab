import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCommonWord } from '../english/commonWords.js';
import { sentencesOf, type TextRange } from '@engraft/learning/parts';
import { findSpans } from './spans.js';
import { protagonistOf, takeStatementApart, withAliases, withFullNames, type Aliases } from './statement.js';

function protagonist(passage: string): string | null {
  const spans = sentencesOf(passage).flatMap((sentence) => findSpans(sentence, passage));
  return protagonistOf(
    passage,
    spans.filter(({ kind }) => kind === 'name').map(({ text }) => text),
  );
}

function aliasesOf(passage: string): Aliases {
  return sentencesOf(passage).reduce<Aliases>(
    (aliases, sentence) => withAliases(aliases, sentence, findSpans(sentence, passage)),
    new Map(),
  );
}

test('a passage is about what it begins with, unless another name comes up more often', () => {
  assert.equal(protagonist('Ada Kell flew from Vance to Little Marl. She liked Little Marl.'), 'Ada Kell');
  assert.equal(protagonist('Old Anvil sells the Fennick. The Fennick is dark. The Fennick is dear.'), 'the Fennick');
  assert.equal(protagonist('Quillpad 4.2 came out. Spelling is checked. Quillpad no longer runs on Tarn.'), 'Quillpad');
  assert.equal(protagonist('Nothing is named here.'), null);
});

function only(text: string): TextRange {
  const [sentence] = sentencesOf(text);
  assert.ok(sentence !== undefined);
  return sentence;
}

test('a noun before a name stands for it, but no time, and nothing that the name says something of', () => {
  const aliases = aliasesOf('Jarek runs the restaurant Blue Thimble in the old harbour of Osterwick.');
  assert.equal(aliases.get('restaurant'), 'Blue Thimble');
  assert.equal(aliases.get('harbour'), undefined);
  assert.equal(aliases.get('of'), undefined);
  assert.equal(aliasesOf('In the evening Bo Lind runs the bar.').get('evening'), undefined);
  assert.equal(aliasesOf('The house Ada Kell built is in Oslo.').get('house'), undefined);
});

test('after a name that ends a subject there is its verb, but not where the name is plural', () => {
  const subject = (text: string) => takeStatementApart(only(text), findSpans(only(text), text), null)?.subject;
  assert.equal(subject('The town library of Pellworth lends books for 28 days.'), 'the town library of Pellworth');
  assert.equal(subject('The price of Lume lamps is 12 euros.'), 'the price of Lume lamps');
  assert.equal(subject('The tram is a symbol of Oslo loved by 300 people.'), 'the tram');
});

test('common words are known by the language library or by their endings, names are not', () => {
  for (const word of ['Dinner', 'fishing', 'FRENCH', 'Membership', 'registration']) assert.ok(isCommonWord(word), word);
  for (const word of ['Velona', 'Manning', 'Felicity', 'Oslo', 'Quillpad', 'constructor', 'toString']) {
    assert.ok(!isCommonWord(word), word);
  }
});

test('of names that are mentioned as often, a passage is about the one that it introduces', () => {
  assert.equal(protagonist('Few in Port Adlair knew Ada Kell before the race. She was a baker.'), 'Ada Kell');
  assert.equal(protagonist('Few in Port Adlair knew Ada Kell! She was a baker.'), 'Ada Kell');
  assert.equal(protagonist('When Tarn Works lost the mill, it made the Petrel. Its roof is red.'), 'the Petrel');
  assert.equal(protagonist('Torvik makes a drill called the TX Four. The TX Four is light.'), 'the TX Four');
  // A place stays what minutes are about, whoever spoke first.
  assert.equal(protagonist('In Gorsey Hospital, Maeve Tolland spoke. The beds are taken.'), 'Gorsey Hospital');
});

test('a name is given in full as a word, and not inside others', () => {
  const names = new Map([['Berg', 'Marta Berg']]);
  assert.equal(withFullNames('When did Berg move to Bergen?', names), 'When did Marta Berg move to Bergen?');
  assert.equal(withFullNames("Marta Berg's sister met Berg.", names), "Marta Berg's sister met Marta Berg.");
});

test('a life is not about a town that it names often', () => {
  const life =
    'Clara Holt was born in Varn in 1871. In 1890 she moved to Halden. In 1899 she came back to Varn. She died in Varn.';
  assert.equal(protagonist(life), 'Clara Holt');
  assert.equal(protagonist('In Varn lived Clara Holt. There she built boats.'), 'Clara Holt');
  assert.equal(protagonist('Behind the Marl Mill lived Clara Holt. There she built boats.'), 'Clara Holt');
  assert.equal(
    protagonist('Few in Halden had heard of Orlan Vekk before he swam the Marl Strait. He was a baker.'),
    'Orlan Vekk',
  );
  assert.equal(protagonist('Varn lies in Marl. In Varn people row. Boats lie in Varn. Ada Kell rows.'), 'Varn');
});
