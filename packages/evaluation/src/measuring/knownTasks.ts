/** A question with what a right reply gives: any one of the answers. */
export interface KnownTask {
  readonly question: string;
  readonly answers: readonly string[];
}

/** Well-known facts. Training rehearses none of them (`replayPrompts.ts` of learning). */
export const knownFacts: readonly KnownTask[] = [
  task('What is the capital of Italy?', 'Rome'),
  task('What is the capital of Spain?', 'Madrid'),
  task('What is the capital of Egypt?', 'Cairo'),
  task('What is the capital of Canada?', 'Ottawa'),
  task('What is the capital of Germany?', 'Berlin'),
  task('What is the capital of Ireland?', 'Dublin'),
  task('What is the capital of Hungary?', 'Budapest'),
  task('What is the capital of Thailand?', 'Bangkok'),
  task('Who wrote Romeo and Juliet?', 'Shakespeare'),
  task('Who wrote Oliver Twist?', 'Dickens'),
  task('Who wrote the Harry Potter books?', 'Rowling'),
  task('Who painted the Mona Lisa?', 'Leonardo', 'da Vinci'),
  task('Who developed the theory of relativity?', 'Einstein'),
  task('Who was the first president of the United States?', 'Washington'),
  task('Who discovered gravity when an apple fell?', 'Newton'),
  task('In which country is the Eiffel Tower?', 'France'),
  task('In which country is the Great Wall?', 'China'),
  task('In which country is Mount Fuji?', 'Japan'),
  task('In which country is the city of Toronto?', 'Canada'),
  task('In which city is the Kremlin?', 'Moscow'),
  task('On which continent is Brazil?', 'South America'),
  task('On which continent is Nigeria?', 'Africa'),
  task('On which continent is China?', 'Asia'),
  task('What is the longest river in South America?', 'Amazon'),
  task('What is the highest mountain in the world?', 'Everest'),
  task('What is the largest planet in the solar system?', 'Jupiter'),
  task('What is the chemical symbol of oxygen?', 'O'),
  task('What is the chemical symbol of sodium?', 'Na'),
  task('How many hours are in a day?', '24', 'twenty-four'),
  task('How many minutes are in an hour?', '60', 'sixty'),
  task('How many legs does a dog have?', '4', 'four'),
  task('How many sides does a hexagon have?', '6', 'six'),
  task('What is the opposite of big?', 'small', 'little'),
  task('What is the opposite of dark?', 'light', 'bright'),
  task('What is the opposite of young?', 'old'),
  task('What is the plural of foot?', 'feet'),
  task('What is the past tense of eat?', 'ate'),
  task('What language is spoken in France?', 'French'),
  task('What language is spoken in Brazil?', 'Portuguese'),
  task('What is the currency of Japan?', 'yen'),
  task('What day comes after Monday?', 'Tuesday'),
  task('What month comes after March?', 'April'),
  task('What colour is grass?', 'green'),
  task('What color is the sky on a clear day?', 'blue'),
  task('What do cows drink as calves?', 'milk'),
  task('What do you call a baby cow?', 'calf'),
  task('In which year did World War II begin?', '1939'),
  task('What gas do plants give off?', 'oxygen'),
];

/** Arithmetic. Training rehearses none of it, either. */
export const knownSums: readonly KnownTask[] = [
  task('What is 2 + 3?', '5'),
  task('What is 8 + 4?', '12'),
  task('What is 9 + 9?', '18'),
  task('What is 10 + 15?', '25'),
  task('What is 30 + 12?', '42'),
  task('What is 7 minus 2?', '5'),
  task('What is 10 minus 6?', '4'),
  task('What is 16 minus 8?', '8'),
  task('What is 30 minus 10?', '20'),
  task('What is 2 times 4?', '8'),
  task('What is 3 times 5?', '15'),
  task('What is 6 times 6?', '36'),
  task('What is 10 times 10?', '100'),
  task('What is 10 divided by 2?', '5'),
  task('Which is larger, 3 or 11?', '11'),
  task('Which is larger, 42 or 24?', '42'),
];

function task(question: string, ...answers: readonly string[]): KnownTask {
  return { question, answers };
}
