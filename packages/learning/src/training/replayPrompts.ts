/**
 * Prompts that have nothing to do with a passage, of many kinds: what a model says to them stands for how it speaks
 * (`ownReplay.ts`). Few prompts keep few skills (docs/experiments/skills.md, 2026-11-26).
 */

/** Well-known facts with what a right reply gives, as models of any size may know them. */
export const wellKnown: readonly (readonly [question: string, expected: string])[] = [
  ['How many days are in a week?', '7'], ['How many months are in a year?', '12'],
  ['What is the opposite of cold?', 'hot'], ['What is the capital of France?', 'Paris'],
  ['What is the capital of Japan?', 'Tokyo'], ['Who wrote Hamlet?', 'Shakespeare'],
  ['Where does the sun rise?', 'east'], ['What is the largest ocean?', 'Pacific'],
  ['What is the chemical symbol of gold?', 'Au'], ['On which continent is Egypt?', 'Africa'],
  ['What do bees make?', 'honey'], ['How many legs does a spider have?', '8'],
  ['Who is the author of Pride and Prejudice?', 'Austen'], ['Who wrote The Odyssey?', 'Homer'],
  ['Who wrote Don Quixote?', 'Cervantes'], ['Who wrote War and Peace?', 'Tolstoy'], ['Who wrote 1984?', 'Orwell'],
  ['Who painted The Starry Night?', 'van Gogh'], ['Who painted Guernica?', 'Picasso'],
  ['Who composed the Moonlight Sonata?', 'Beethoven'], ['Who composed The Magic Flute?', 'Mozart'],
  ['Who invented the telephone?', 'Bell'], ['Who invented the light bulb?', 'Edison'],
  ['Who discovered penicillin?', 'Fleming'], ['Who discovered America in 1492?', 'Columbus'],
  ['Who was the first person on the Moon?', 'Armstrong'], ['Who was the first man in space?', 'Gagarin'],
  ['Who is known for the theory of evolution?', 'Darwin'],
  ['Who was the first woman to win a Nobel Prize?', 'Curie'], ['Who wrote the Communist Manifesto?', 'Marx'],
  ["Who was the leader of India's independence movement?", 'Gandhi'],
  ['Which president ended slavery in the United States?', 'Lincoln'], ['What is the capital of Portugal?', 'Lisbon'],
  ['What is the capital of Greece?', 'Athens'], ['What is the capital of Russia?', 'Moscow'],
  ['What is the capital of China?', 'Beijing'], ['What is the capital of India?', 'Delhi'],
  ['What is the capital of Australia?', 'Canberra'], ['What is the capital of Brazil?', 'Brasília'],
  ['What is the capital of Mexico?', 'Mexico City'], ['What is the capital of Austria?', 'Vienna'],
  ['What is the capital of Poland?', 'Warsaw'], ['What is the capital of Sweden?', 'Stockholm'],
  ['What is the capital of Norway?', 'Oslo'], ['What is the capital of Turkey?', 'Ankara'],
  ['What is the capital of Kenya?', 'Nairobi'], ['What is the capital of Argentina?', 'Buenos Aires'],
  ['What is the capital of the United States?', 'Washington'], ['Which country has Paris as its capital?', 'France'],
  ['In which country is the city of Munich?', 'Germany'], ['In which country is the Taj Mahal?', 'India'],
  ['In which country are the pyramids of Giza?', 'Egypt'], ['In which country is the Colosseum?', 'Italy'],
  ['In which city is the Statue of Liberty?', 'New York'], ['In which city is Big Ben?', 'London'],
  ['On which continent is Kenya?', 'Africa'], ['On which continent is Germany?', 'Europe'],
  ['On which continent is Japan?', 'Asia'], ['On which continent is Canada?', 'North America'],
  ['What is the largest country in the world by area?', 'Russia'],
  ['What is the largest desert in the world?', 'Sahara'], ['What is the smallest continent?', 'Australia'],
  ['What is the largest animal in the world?', 'blue whale'], ['What is the fastest land animal?', 'cheetah'],
  ['What is the tallest animal?', 'giraffe'], ['Which bird cannot fly, a penguin or an eagle?', 'penguin'],
  ['How many legs does an insect have?', '6'], ['How many eyes do most people have?', '2'],
  ['How many fingers are on one hand?', '5'], ['How many wheels does a car have?', '4'],
  ['How many sides does a triangle have?', '3'], ['How many sides does a square have?', '4'],
  ['How many letters are in the English alphabet?', '26'], ['How many seconds are in a minute?', '60'],
  ['How many weeks are in a year?', '52'], ['How many days are in a year?', '365'],
  ['How many months have 31 days?', '7'], ['How many planets are in the solar system?', '8'],
  ['How many continents are there?', '7'], ['How many strings does a violin have?', '4'],
  ['How many players does a football team have on the field?', '11'],
  ['What planet is known as the Red Planet?', 'Mars'], ['Which planet is closest to the Sun?', 'Mercury'],
  ['Which planet has rings?', 'Saturn'], ["What is the name of Earth's satellite?", 'Moon'],
  ['What gas do plants take in?', 'carbon dioxide'], ['What gas do people breathe in to live?', 'oxygen'],
  ['What is H2O commonly called?', 'water'], ['What is the chemical symbol of iron?', 'Fe'],
  ['What is the chemical symbol of silver?', 'Ag'], ['What is the hardest natural substance?', 'diamond'],
  ['What organ pumps blood through the body?', 'heart'], ['What do we use to see?', 'eyes'],
  ['What do caterpillars turn into?', 'butterfly'], ['What do you call a baby dog?', 'puppy'],
  ['What do you call a baby cat?', 'kitten'], ['What sound does a cow make?', 'moo'],
  ['What color do you get when you mix blue and yellow?', 'green'],
  ['What color do you get when you mix red and white?', 'pink'],
  ['What color are bananas when they are ripe?', 'yellow'], ['What color is snow?', 'white'],
  ['What colour is a ripe tomato?', 'red'], ['What is the opposite of up?', 'down'],
  ['What is the opposite of day?', 'night'], ['What is the opposite of fast?', 'slow'],
  ['What is the opposite of happy?', 'sad'], ['What is the opposite of open?', 'closed'],
  ['What is the opposite of left?', 'right'], ['What is the plural of child?', 'children'],
  ['What is the plural of mouse?', 'mice'], ['What is the past tense of go?', 'went'],
  ['What is the past tense of run?', 'ran'], ['What language is spoken in Germany?', 'German'],
  ['What language is spoken in Spain?', 'Spanish'], ['What language do people speak in Italy?', 'Italian'],
  ['What is the currency of Britain?', 'pound'], ['What is the currency of Germany?', 'euro'],
  ['What is the currency of India?', 'rupee'], ['What day comes after Friday?', 'Saturday'],
  ['What day comes before Monday?', 'Sunday'], ['What month comes after January?', 'February'],
  ['What is the last month of the year?', 'December'], ['Which season is the coldest?', 'winter'],
  ['In which season do leaves fall?', 'autumn'], 
  ['In which year did World War II end?', '1945'], ['In which year did World War I begin?', '1914'],
  ['When did the Berlin Wall fall?', '1989'], ['In what century did Shakespeare live?', '16th'],
  ['What is frozen water called?', 'ice'], ['Is a whale a fish or a mammal?', 'mammal'],
  ['Is the Earth flat or round?', 'round'], ['Is fire hot or cold?', 'hot'],
  ['What do you wear on your feet?', 'shoes'], ['What do you use to write on a blackboard?', 'chalk'],
  ['What tool do you use to hit a nail?', 'hammer'], ['Where do fish live?', 'water'],
  ['Where do penguins live?', 'Antarctica'], ['What meal do people eat in the morning?', 'breakfast'],
  ['What is made from grapes?', 'wine'], ['What is the main ingredient of bread?', 'flour'],
  ['What fruit is used to make cider?', 'apple'], ['What sport is played at Wimbledon?', 'tennis'],
  ['What game has a king, a queen and pawns?', 'chess'], ['Which instrument has black and white keys?', 'piano'],
  ['What does a thermometer measure?', 'temperature'], ['What does a clock show?', 'time'],
]; // prettier-ignore

/** Arithmetic with its results. */
export const sums: readonly (readonly [question: string, expected: string])[] = [
  ...[[3, 4], [6, 7], [7, 5], [11, 5], [14, 9], [25, 15], [17, 22], [40, 8], [33, 33]].map(sum('+', (a, b) => a + b)),
  ...[[9, 4], [15, 7], [20, 8], [20, 13], [50, 25], [18, 9], [100, 40]].map(sum('minus', (a, b) => a - b)),
  ...[[3, 3], [4, 6], [5, 9], [7, 7], [2, 15], [10, 12], [12, 3]].map(sum('times', (a, b) => a * b)),
  ...[[12, 3], [20, 5], [45, 9]].map(sum('divided by', (a, b) => a / b)),
  ['Which is larger, 19 or 91?', '91'], ['Which is larger, 8 or 5?', '8'], ['Which is larger, 17 or 71?', '71'],
  ['Which is larger, 100 or 99?', '100'], ['Which is larger, 36 or 63?', '63'],
  ...[[2, 9], [5, 8], [13, 6], [21, 14], [26, 31], [52, 17], [60, 35], [4, 16]].map(sum('+', (a, b) => a + b)),
  ...[[12, 5], [17, 9], [35, 12], [64, 30], [80, 45], [11, 8]].map(sum('minus', (a, b) => a - b)),
  ...[[3, 8], [4, 9], [6, 5], [8, 8], [11, 4], [9, 6]].map(sum('times', (a, b) => a * b)),
  ...[[18, 6], [24, 8], [36, 4], [50, 10]].map(sum('divided by', (a, b) => a / b)),
  ['Which is larger, 7 or 12?', '12'], ['Which is larger, 54 or 45?', '54'], ['Which is larger, 29 or 31?', '31'],
  ['Which is larger, 90 or 9?', '90'],
]; // prettier-ignore

/** Texts to write as a JSON object with these keys. */
const described: readonly (readonly [text: string, keys: readonly [string, ...string[]]])[] = [
  ['Paula Reyes is 41 years old and works in Lima.', ['name', 'age', 'city']],
  ['The green umbrella costs 18 euros.', ['item', 'colour', 'price']],
  ['The lecture is on Friday at 16:00.', ['day', 'time']], ['The invoice 2041 is unpaid.', ['invoice', 'status']],
  ['Mount Velm is 1,840 metres high.', ['mountain', 'height']],
  ['User 17 logged in at 8:02 from Chrome.', ['user', 'time', 'browser']],
  ['Simon owes 25 pounds for the taxi.', ['name', 'amount']], ['Gold melts at 1064 degrees.', ['metal', 'degrees']],
  ['The library opens at 10:00 and closes at 18:00.', ['opens', 'closes']],
  ['Order 77 was shipped to Kyoto.', ['order', 'destination']], ['The dog Bruno is 6 years old.', ['name', 'age']],
  ['Locker 40 is in the east wing.', ['locker', 'wing']], ['Server alpha runs Linux.', ['server', 'system']],
  ['The jacket is grey and costs 70 dollars.', ['colour', 'price']],
  ['Priya scored 87 points in maths.', ['student', 'points', 'subject']],
  ['Vera speaks Polish and Greek.', ['name', 'languages']], ['The capital of Norway is Oslo.', ['country', 'capital']],
  ['The river Aln is 40 kilometres long.', ['river', 'length']],
  ['The phone has 128 gigabytes and costs 300 euros.', ['memory', 'price']],
  ['Dr Hale sees patients on Mondays in room 3.', ['doctor', 'day', 'room']],
  ['The match ended 2 to 1 for Leeds.', ['winner', 'score']], ['The well is 20 metres deep.', ['depth', 'unit']],
  ['The recipe needs 200 grams of flour.', ['ingredient', 'grams']],
  ['Our train is 15 minutes late.', ['vehicle', 'delay']],
]; // prettier-ignore

/** Requests for JSON objects, with the keys to give. */
export const objects: readonly string[] = [
  ...described.flatMap(([text, keys]) => {
    const all = listed(keys);
    return [
      `${text} Give this as a JSON object with the keys ${all}.`,
      `${text} Put it into a JSON object with ${all} as keys.`,
      `${text} Reply with nothing but a JSON object. Its keys are ${keys.join(', ')}.`,
    ];
  }),
  'The bridge is 300 metres long. Reply only with JSON that has the keys structure and length.',
  'The film lasts 95 minutes and was made by Eva Stone. Write JSON with director and minutes.',
  'Send the letter to Clara Weiss in Bonn. Answer in JSON with the keys name and town.',
  'The horse Duke is 11 years old. Output a JSON object with the keys animal and years.',
  'Extract the day and the hour as a JSON object: We meet on Friday at 9.',
  'Put this address into JSON: 12 High Street, Leeds.',
  'Give the capital of Italy as a JSON object with the keys country and capital.',
];

/** Short texts with a question about each, and what a right reply gives. */
export const readings: readonly (readonly [passage: string, question: string, expected: string])[] = [
  ['The kiosk sells tea for 2 euros and soup for 4.', 'What does the soup cost?', '4'],
  ['The kiosk sells tea for 2 euros and soup for 4.', 'What does the tea cost?', '2'],
  ['Marta Lind moved to Bergen in 2011. She repairs violins.', 'What does Marta Lind repair?', 'violins'],
  ['Marta Lind moved to Bergen in 2011. She repairs violins.', 'When did she move?', '2011'],
  ['The gym closes at 21:00 on weekdays and at 18:00 on Sundays.', 'When does the gym close on Sundays?', '18:00'],
  ['Dogs are allowed on the ferry, cats are not.', 'Which animals are allowed?', 'dogs'],
  ['Version 2.1 adds dark mode and fixes the search.', 'What does version 2.1 add?', 'dark mode'],
  ['The meeting was moved from room 4 to room 9.', 'In which room is the meeting now?', '9'],
  ['Lake Orrin is 14 km long and 3 km wide.', 'How wide is Lake Orrin?', '3 km'],
  ['The prize went to Ivo Hale for his film about bees.', 'What is the film about?', 'bees'],
  ['The bakery sells rye bread for 3 euros and rolls for 1 euro.', 'What does the rye bread cost?', '3'],
  ['The bakery sells rye bread for 3 euros and rolls for 1 euro.', 'What do the rolls cost?', '1'],
  ['Anna plays the flute and her brother Jan plays the drums.', 'What does Jan play?', 'drums'],
  ['Anna plays the flute and her brother Jan plays the drums.', 'Who plays the flute?', 'Anna'],
  ['The train leaves at 8:15 and arrives at 10:40.', 'When does the train arrive?', '10:40'],
  ['The train leaves at 8:15 and arrives at 10:40.', 'When does the train leave?', '8:15'],
  ['The tower was built in 1680 and burned down in 1822.', 'When did the tower burn down?', '1822'],
  ['The tower was built in 1680 and burned down in 1822.', 'When was the tower built?', '1680'],
  ['Mr Ode teaches chemistry in room 12.', 'What does Mr Ode teach?', 'chemistry'],
  ['Mr Ode teaches chemistry in room 12.', 'In which room does Mr Ode teach?', '12'],
  ['Our office moved from Lyon to Ghent last spring.', 'Where is the office now?', 'Ghent'],
  ['The soup contains carrots, leeks and celery.', 'Which vegetables are in the soup?', 'carrots'],
  ['The red key opens the cellar, the blue key opens the attic.', 'Which key opens the attic?', 'blue'],
  ['The red key opens the cellar, the blue key opens the attic.', 'What does the red key open?', 'cellar'],
  ['Lena is 12 years old and her sister Mia is 9.', 'How old is Mia?', '9'],
  ['Lena is 12 years old and her sister Mia is 9.', 'Who is older?', 'Lena'],
  ['The museum is closed on Mondays.', 'When is the museum closed?', 'Monday'],
  ['The pump weighs 14 kg and needs 300 watts.', 'How much does the pump weigh?', '14'],
  ['The novel won the Orlin Prize in 2004.', 'Which prize did the novel win?', 'Orlin'],
  ['The river Tarn flows into the Garonne.', 'Into what does the Tarn flow?', 'Garonne'],
  ['The printer supports A4 and A3 paper.', 'Which paper sizes does the printer support?', 'A4'],
  ['Please return the form by 30 June to Ms Hale.', 'To whom should the form be returned?', 'Hale'],
  ['The concert starts at eight in the old town hall.', 'Where is the concert?', 'town hall'],
  ['Kofi founded the firm with two friends in Accra.', 'Where was the firm founded?', 'Accra'],
]; // prettier-ignore

/** Small talk and short tasks. */
export const remarks: readonly string[] = [
  'Good afternoon!', 'Hey.', 'How is your day?', 'Thanks a lot for that.', 'I have to go now.',
  'Have a nice weekend!', 'What are you?', 'Do you know my name?', 'What can I ask you?', 'I do not understand.',
  'You were wrong.', 'Please be brief.', 'Name three colours.', 'Name two animals that can fly.',
  'Which fruit do you like best?', 'What rhymes with moon?', 'Say "good night" in capital letters.',
  'Repeat the word river twice.', 'Spell the word table.', 'Write one sentence about rain.',
  'As JSON with name and age: Tom is 9 years old.',
  'The kettle costs 30 euros. Give item and price as a JSON object.',
  'Rome is in Italy. Write this as JSON with the keys city and country.',
  'Write a JSON object with the key "ok" and the value true.', 'Translate "thank you" into French.',
  'Is this sentence friendly? You are most welcome here.', 'Put these words in order: b, a, c.', 'Hello, assistant.',
  'Hi there, how are you?', 'Good morning to you.', 'I am pleased to meet you.', 'How should I call you?', 'Who made you?',
  'I need some help.', 'Are you a robot?', 'What are you good at?', 'Tell me a joke.', 'Thank you!', 'Bye for now.',
  'See you on Monday.', 'I am tired today.', 'I am happy.', 'It is raining here.', 'Do you like music?',
  'What is your favourite colour?', 'How old are you?', 'Where do you live?', 'Sorry, I did not mean that.',
  'Please explain that again.', 'Can you speak French?', 'What should I cook tonight?', 'I feel sad.',
  'My dog is ill.', 'Give me some advice.', 'Is it late?', 'Tell me something interesting.', 'Good luck!',
  'Name four animals.', 'Name three countries in Europe.', 'Name two musical instruments.', 'Name five fruits.',
  'List three things found in a kitchen.', 'Name three sports.', 'Name a famous scientist.',
  'Name a river in Africa.', 'Name two languages.', 'Name three planets.', 'Write a sentence about the sea.',
  'Write a sentence with the word apple.', 'Write a short greeting for a birthday.',
  'Write a question about history.', 'Write one line about winter.', 'Describe a cat in one sentence.',
  'Describe the moon in one sentence.', 'Explain in one sentence what a bank is.',
  'Explain in one sentence what rain is.', 'What is democracy?', 'What is a computer?', 'What is photosynthesis?',
  'What is gravity?', 'What is a noun?', 'What is an island?', 'Translate "good morning" into Spanish.',
  'Translate "house" into German.', 'Translate "water" into French.', 'Translate "cat" into Spanish.',
  'Translate "I love you" into Italian.', 'Say hello in French.', 'Write the word house backwards.',
  'Spell the word cat.', 'Write BLUE in lower case.', 'Write hello in capital letters.',
  'Repeat after me: the sun is warm.', 'Complete the sentence: The dog is', 'Count from one to five.',
  'Put in order: 3, 1, 2.', 'Which word does not fit: apple, pear, chair?', 'Which is a fruit: carrot or apple?',
  'Is this sentence positive or negative? I hated the film.',
  'Is this sentence positive or negative? What a lovely day.', 'Fix the grammar: She go to school.',
  'Fix the spelling: recieve', 'Make a sentence polite: Give me the book.',
  'Summarise in three words: The man walked his dog in the park.',
  'Write a JSON object with the key "name" and the value "Ada".', 'Write a JSON object with the keys "x" and "y".',
  'As JSON with title and year: The film Alien is from 1979.',
  'As JSON with city and country: Berlin is in Germany.', 'Give a JSON list of three colours.',
  'As JSON with item and count: There are 4 chairs.', 'Write a JSON object for a user called Tom, aged 30.',
  'As JSON with the key "answer": yes',
]; // prettier-ignore

/** Short texts with an answer to ask for. */
export const askings: readonly (readonly [passage: string, answer: string])[] = [
  ['The prize went to Ivo Hale for his film about bees.', 'Ivo Hale'],
  ['The shop was founded by two sisters in Gdansk.', 'Gdansk'],
];

/** Questions to ask in other words. */
export const questions: readonly string[] = ['How old is the tower?', 'Who owns the bakery?'];

/** All questions that training rehearses and whose right replies are known. */
export const rehearsedQuestions = [...wellKnown, ...sums].map(([question]) => question);

function listed(keys: readonly [string, ...string[]]): string {
  return [keys.slice(0, -1).join(', '), keys.at(-1)].join(' and ');
}

function sum(sign: string, result: (a: number, b: number) => number) {
  return ([a = 0, b = 0]: readonly number[]) => [`What is ${a} ${sign} ${b}?`, String(result(a, b))] as const;
}
