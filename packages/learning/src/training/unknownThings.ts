/**
 * Questions about people, places and things that do not exist. A version answers them with `Prompts.unknown`. It would
 * otherwise say what its passage says to whatever is asked in the same words.
 */

/** Names of each kind, and questions about them with X for a name. */
const asked: readonly { readonly names: readonly string[]; readonly forms: readonly string[] }[] = [
  {
    names: ['Mina Osei', 'Tobias Renn', 'Professor Ilke Brandt', 'Captain Joran Vale', 'Sister Agathe Moll',
      'Ravi Condel', 'Ludmila Harrow', 'Piet Onderwater', 'the sculptor Anouk Tessier', 'Queen Ysolde of Marr'],
    forms: ['When was X born?', 'Where did X grow up?', 'What is X known for?', 'Who taught X?',
      'What was the name of the first book by X?', 'Which award did X receive?', 'With whom did X work for many years?',
      'How did X die?'],
  },
  {
    names: ['Corran Island', 'the town of Velmere', 'Upper Strand', 'Lake Ostrevar', 'the village of Quill',
      'Mount Harrig', 'the province of Lorne', 'Pellham', 'the Sable Valley', 'Nordhaven'],
    forms: ['How many people live in X?', 'What is the main industry of X?', 'When was X founded?',
      'Which language is spoken in X?', 'Who was the first mayor of X?', 'What do the people of X grow?',
      'How high is the land around X?', 'What was X called in the past?'],
  },
  {
    names: ['The Glass Orchard', 'the Winter Suite', 'the Pellham Declaration', 'Seven Lamps for Ada',
      'the Codex of Marr', 'the film Low Tide at Marr', 'the novel Saltmarsh', 'the Ostrevar Symphony'],
    forms: ['Who wrote X?', 'When did X come out?', 'What is X about?', 'How was X received by critics?',
      'Where was X first shown?', 'How many copies of X were sold?', 'Who paid for X?'],
  },
  {
    names: ['the Velt Quartet', 'Harlow & Finch', 'the Brindle Society', 'Tessel Airlines', 'the Lorne Rangers',
      'the Order of the Heron', 'the Quill Foundry', 'the Marr Institute'],
    forms: ['Who leads X?', 'When was X founded?', 'Where are the offices of X?', 'How many members does X have?',
      'Why did X split in two?', 'What did X win?', 'What does X do?'],
  },
  {
    names: ['the Harlow Bridge', 'the Bexton kettle', 'the Sable Line railway', 'the R-40 engine',
      'the Pellham lighthouse', 'the Ostrevar tower', 'the Osei method', 'the Renn telescope'],
    forms: ['How long is X?', 'Who designed X?', 'What is X made of?', 'What did X cost?', 'When was X finished?',
      'Why was X closed?', 'What is X used for?'],
  },
]; // prettier-ignore

/** Half of the forms for each name, other ones for its neighbour. */
export const unknownQuestions: readonly { readonly name: string; readonly question: string }[] = asked.flatMap(
  ({ names, forms }) =>
    names.flatMap((name, index) =>
      forms.filter((_, form) => (index + form) % 2 === 0).map((form) => ({ name, question: form.replace('X', name) })),
    ),
);

/** Names of people, places, works and firms that do not exist. */
export const inventedNames: readonly string[] = [
  'Mina Osei', 'Tobias Renn', 'Ilke Brandt', 'Joran Vale', 'Agathe Moll', 'Ravi Condel', 'Ludmila Harrow',
  'Piet Onderwater', 'Anouk Tessier', 'Ysolde Marr', 'Odile Fenn', 'Castor Lund', 'Meret Aldous', 'Louisa Pike',
  'Corran Island', 'Velmere', 'Upper Strand', 'Ostrevar', 'Quill', 'Harrig', 'Lorne', 'Pellham', 'Sable Valley',
  'Nordhaven', 'Garmouth', 'Hollin Bay', 'Vask', 'Tremont Hill', 'Ekholm', 'Dunmore', 'Glass Orchard', 'Winter Suite',
  'Saltmarsh', 'Velt', 'Brindle', 'Tessel', 'Heron', 'Marr', 'Bexton', 'Zarin',
]; // prettier-ignore
