/** The questions for what one sentence tells. See `ToldQuestions`, which these become. */
export interface Wordings {
  readonly restated: string;
  readonly asked: readonly string[];
  readonly test?: string | undefined;
}

/** When something happens for a thing: "the first bus of Market Square". The last wording is the one to test with. */
export function momentTemplates(key: string, noun: string | null): string[] {
  const isRide = ride.test(key);
  return [
    'When is the KEY of {X}?',
    'When is the KEY at {X}?',
    ...(isRide ? ['When does the KEY leave {X}?', 'What time does the KEY stop at {X}?'] : []),
    'At what time is the KEY for {X}?',
    ...(isRide ? ['At what time does the KEY go from {X}?'] : ['What time is the KEY of {X}?']),
    noun === null ? 'What is the time of the KEY for {X}?' : 'For {X}, what is the time of the KEY?',
  ];
}

const ride = /\b(?:train|bus|tram|ferry|boat|ship|coach|flight|shuttle)$/u;
