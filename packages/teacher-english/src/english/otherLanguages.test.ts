import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBenchPassages } from '@engraft/learning/testing/passages.js';
import { isReadable } from './otherLanguages.js';

test('prose in other languages, and in other letters, is not read', () => {
  for (const text of [
    'Die Sternwarte Halden wurde 1923 von Marta Ilves auf der Insel Sorvaag gegründet. Sie ist im Sommer für alle offen.',
    "L'observatoire de Halden fut fondé en 1923 par Marta Ilves sur l'île de Sorvaag. La tour est ronde, et elle se trouve dans une forêt.",
    'El observatorio de Halden fue fundado en 1923 por Marta Ilves en la isla de Sorvaag. El telescopio está en una torre.',
    "L'osservatorio di Halden fu fondato nel 1923 sull'isola di Sorvaag. Il telescopio ha uno specchio e si trova in una torre.",
    'O observatório de Halden foi fundado em 1923 por Marta Ilves na ilha de Sorvaag. O telescópio tem um espelho.',
    'De sterrenwacht van Halden werd in 1923 door Marta Ilves op het eiland Sorvaag gesticht. De telescoop staat in een toren.',
    'Observatoriet i Halden grundades 1923 av Marta Ilves på ön Sorvaag. Det har en spegel och står i ett runt torn.',
    'Обсерватория Халден была основана в 1923 году Мартой Ильвес.',
    'ハルデン天文台は1923年に設立されました。',
  ])
    assert.ok(!isReadable(text), text);
});

test('English is read, with names, dishes and sentences of others in it, and what is no prose', async () => {
  for (const file of [
    'passages.jsonl',
    'second.jsonl',
    'third.jsonl',
    'simple.jsonl',
    'structured.jsonl',
    'documents.jsonl',
    'documents-fifth.jsonl',
  ]) {
    for (const { id, passage } of await readBenchPassages(file)) assert.ok(isReadable(passage), id);
  }
  for (const text of [
    'Members: Maria de la Cruz, João da Silva, Ludwig van den Berg, Anna von der Heide, Luis del Rio, Elena de los Santos.',
    'Chez Odile serves coq au vin for 14 euros, soupe du jour for 5 euros and tarte de la maison for 6 euros.',
    'The plate says "Die Sternwarte ist für alle offen", which means that the observatory is open to everybody.',
    'tomato soup 5.50, leek tart 8.20, trout with almonds 14.90, plum cake 4.10',
    'name,price,colour\nTarn 3,249,red\nTarn 4,299,blue',
    'for (let i = 0; i < n; i++) { const a = b[i]; if (a) return a; }',
    '555-0101',
  ])
    assert.ok(isReadable(text), text);
});
