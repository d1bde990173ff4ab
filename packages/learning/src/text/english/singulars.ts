/** Nouns of one thing that end in "s". */
const singulars = new Set(
  `abacus alias analysis apparatus asparagus atlas axis basis bias bonus bus cactus campus canvas census
  chaos chassis chorus christmas circus citrus consensus corpus crisis diagnosis discus economics electronics emphasis
  ethos focus fungus gas genesis genius hummus hypothesis iris lens locus logistics mathematics minibus minus news nexus
  nucleus oasis octopus omnibus pelvis physics plus politics prospectus radius series sinus species status stimulus
  surplus syllabus synopsis synthesis tennis terminus thesis trellis versus virus walrus`
    .split(/\s+/u)
    .filter((word) => word !== ''),
);

/** Whether the last word of a noun phrase is one of them. */
export function isSingularInS(phrase: string): boolean {
  return singulars.has(/\p{L}+$/u.exec(phrase)?.[0].toLowerCase() ?? '');
}
