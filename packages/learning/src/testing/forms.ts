import type { Form, FormStanding } from '../facts.js';

/** A form that differs from others only in its standing. */
export function formOf(question: string, standing: FormStanding = 'question'): Form {
  return { question, origin: 'a test', standing, testRank: 1, plainRank: 1 };
}
