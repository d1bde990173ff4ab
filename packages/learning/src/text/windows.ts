/** The characters of Windows from 128 on, where Unicode has controls. '\uFFFD' stands for codes without one. */
const characters = '€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ';

/** The Windows character that old programs, and pages written with them, mean by a code from 128 to 159. */
export function windowsCharacter(code: number): string {
  return characters.charAt(code - 0x80).replace('\uFFFD', '');
}
