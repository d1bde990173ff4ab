/** Detects passages in a language that this teacher has no rules for. */
import { isFunctionWord } from '@engraft/learning/parts';

/** Function words of languages in Latin script. Words that English also has count as English. */
const grammar: readonly string[] = [
  'der die das den dem des und ist nicht ein eine einen einer mit für auf von zu im wird wurde sich auch', // German
  'le la les des est et une un dans pour qui que sur au aux du pas par avec ce cette sont son ses', // French
  'el la los las una un es y para con por del que se su al lo como más fue son en de', // Spanish
  'il lo la gli le di del della che è un una per con sono nel alla si da come anche in', // Italian
  'o os as uma um é e para com não do da dos das em que no na por se foi ao', // Portuguese
  'het een van en op met voor niet zijn dat de werd ook bij uit naar wordt aan te', // Dutch
  'och att det som en ett på är för av med till inte den har var från de', // Swedish
  'og at det er på til af med ikke en et som den for har var fra de', // Danish
  'i w na z do się jest nie że od przez oraz po dla jak który', // Polish
  'a je se na v že s do z byl není pro od které jako', // Czech
  'ja on ei se että oli joka myös kun sen ovat hän', // Finnish
  'és az egy hogy nem van a is volt meg azt', // Hungarian
  've bir bu için ile de da olan olarak çok', // Turkish
  'și în la cu este de pe un o nu care din sunt', // Romanian
  'yang dan di dengan untuk ini itu dari pada adalah tidak ke', // Indonesian
];

const languages: readonly ReadonlySet<string>[] = grammar.map(
  (list) => new Set(list.split(' ').filter((word) => !isFunctionWord(word))),
);

/** Words that link the parts of names, in any language: "Maria de la Cruz". */
const links = new Set('de da do dos du la le los las van von der den del di el al'.split(' '));

/** A text in another language has at least this share of its function words. A smaller share is a name or a dish. */
const minShare = 0.15;
const minWords = 5;
const minDifferent = 3;

/**
 * False for prose with more function words of another language than of English, and for text in another script. A list,
 * a menu or a program has no grammar, and is read.
 */
export function isReadable(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  if (letters > 2 * latin) return false;
  const words = text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];
  const english = words.filter(isFunctionWord).length;
  return languages.every((known) => {
    const found = words.filter((word) => known.has(word));
    const different = new Set(found.filter((word) => !links.has(word))).size;
    const isOther = found.length >= minWords && different >= minDifferent && found.length >= minShare * words.length;
    return !isOther || found.length <= 2 * english;
  });
}
