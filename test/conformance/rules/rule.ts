/** A sentence, table row or clause of the contract that the service must keep. */
export interface Rule {
  /** `money-3`: the section's short name and the place in it. */
  readonly id: string;
  readonly section: string;
  /** The sentence as the contract says it. */
  readonly sentence: string;
  /** Titles of tests that keep it without quoting it. */
  readonly titles: readonly string[];
}

/** Either the sentence alone, for which tests are found by their quotes, or with titles of further tests. */
type RuleSource = string | readonly [sentence: string, ...titles: string[]];

export function section(name: string, id: string, sources: readonly RuleSource[]): readonly Rule[] {
  return sources.map((source, index) => {
    const [sentence, ...titles] = typeof source === 'string' ? [source] : source;
    return { id: `${id}-${index + 1}`, section: name, sentence, titles };
  });
}
