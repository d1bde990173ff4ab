const months = new Set(
  'Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' '),
);

/** Whether a text begins with a German month. German writes the days before it as ordinals: "3. Mai". */
export function opensWithGermanMonth(text: string): boolean {
  return months.has(/^\p{L}+/u.exec(text)?.[0] ?? '');
}
