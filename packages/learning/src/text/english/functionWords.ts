/** English words that carry grammar rather than content. */

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/u));

export const articles = words('a an the');

export const pronouns =
  words(`i you he she it we they me him her us them mine yours his hers its ours theirs my your our their
  this that these those who whom whose which what there here one someone everyone anyone nobody something everything nothing`);

export const copulas =
  words(`be is are was were am been being has have had do does did will would can could shall should may might
  must became become becomes remains remained stays stayed`);

export const prepositions =
  words(`of in on at by for with from to into onto over under above below between among through during before after
  since until till against about around across along behind beside besides beyond near off out outside inside per than toward towards
  up down upon within without via despite except like unlike as`);

const others =
  words(`and or but nor so yet if because while when where why how although though whether unless not no only also too very
  just even still again ever never always often usually sometimes now then once all any both each every either neither some few many
  much more most less least several other another such own same first second third last next almost about nearly exactly roughly
  however moreover therefore thus instead later earlier ago together`);

export function isFunctionWord(word: string): boolean {
  const lower = word.toLowerCase();
  return [articles, pronouns, copulas, prepositions, others].some((set) => set.has(lower));
}
