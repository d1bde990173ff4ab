/** The characters that Windows has from 128 on, where Unicode has controls; '\uFFFD' stands where it has none. */
const characters = '€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ';

/** Of a code from 128 to 159, by which old programs, and pages that they wrote, mean a character of Windows. */
export function windowsCharacter(code: number): string {
  return characters.charAt(code - 0x80).replace('\uFFFD', '');
}
