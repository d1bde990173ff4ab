const numberWord =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|dozen|hundred|thousand|million|billion|half|once|twice|no|none)\b/iu;
/** Words in phrases of time. */
export const timeWord =
  /\b(?:\w+day|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter|morning|noon|afternoon|evening|night|midnight|dawn|dusk|sun(?:rise|set)|century|week|month|year|before|after|during|when|christmas|easter)s?\b/iu;

/** Whether an answer is of the kind that the question word asks for. True if the word does not tell. */
export function fitsQuestionWord(question: string, answer: string): boolean {
  if (
    /^(?:when|since when|until when|(?:in |on )?(?:what|which) (?:year|date|day|month)|(?:at )?what time)\b/iu.test(
      question,
    )
  ) {
    return numberWord.test(answer) || timeWord.test(answer);
  }
  if (/^how (?:many|much|old|tall|long|far|fast|heavy|big|large|high|deep|wide|often)\b/iu.test(question)) {
    return numberWord.test(answer) || timeWord.test(answer);
  }
  if (/^(?:who|whom|whose|by whom|where)\b/iu.test(question)) return !/^[\p{Sc}\d]/u.test(answer);
  return true;
}
