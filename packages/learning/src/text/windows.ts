/** The characters that Windows has from 128 on, where Unicode has controls; '\uFFFD' stands where it has none. */
const characters = '€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ';

/** The character of Windows that old programs, and pages that they wrote, mean by a code from 128 to 159. */
export function windowsCharacter(code: number): string {
  return characters.charAt(code - 0x80).replace('\uFFFD', '');
}
