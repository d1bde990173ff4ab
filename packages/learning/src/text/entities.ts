/** HTML character references, which remain in text copied from web pages. */
import { windowsCharacter } from './windows.js';

/** Named characters up to U+00FF, in order from U+00A0. */
const latin1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro ' +
  'para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil ' +
  'Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave ' +
  'Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml ' +
  'igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute ' +
  'thorn yuml';

/** Other characters that HTML 4 names and prose contains, and the commonest of HTML 5. */
const others: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", Tab: '\t', NewLine: '\n', semi: ';', colon: ':', num: '#' },
  ...{ dollar: '$', percnt: '%', ast: '*', plus: '+', comma: ',', period: '.', sol: '/', lpar: '(', rpar: ')' },
  ...{ excl: '!', quest: '?', equals: '=', commat: '@', lsqb: '[', rsqb: ']', lowbar: '_', hyphen: '\u2010' },
  ...{ OElig: 'Œ', oelig: 'œ', Scaron: 'Š', scaron: 'š', Zcaron: 'Ž', zcaron: 'ž', Yuml: 'Ÿ', fnof: 'ƒ' },
  ...{ ensp: '\u2002', emsp: '\u2003', numsp: '\u2007', thinsp: '\u2009', hairsp: '\u200A' },
  ...{ ZeroWidthSpace: '\u200B', zwnj: '\u200C', zwj: '\u200D', lrm: '\u200E', rlm: '\u200F' },
  ...{ ndash: '–', mdash: '—', horbar: '―', lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“', rdquo: '”', bdquo: '„' },
  ...{ lsaquo: '‹', rsaquo: '›', dagger: '†', Dagger: '‡', bull: '•', hellip: '…', permil: '‰', prime: '′' },
  ...{ Prime: '″', frasl: '⁄', minus: '−', euro: '€', trade: '™', numero: '№', larr: '←', uarr: '↑', rarr: '→' },
  ...{ darr: '↓', harr: '↔', asymp: '≈', ne: '≠', le: '≤', ge: '≥', infin: '∞', radic: '√', frac13: '⅓' },
  ...{ frac23: '⅔', frac15: '⅕', frac18: '⅛', frac38: '⅜', frac58: '⅝', frac78: '⅞', check: '✓', cross: '✗' },
  ...{ alpha: 'α', beta: 'β', gamma: 'γ', delta: 'δ', epsilon: 'ε', lambda: 'λ', mu: 'μ', pi: 'π', sigma: 'σ' },
  ...{ omega: 'ω', Delta: 'Δ', Sigma: 'Σ', Omega: 'Ω' },
};

const named: ReadonlyMap<string, string> = new Map([
  ...latin1.split(' ').map((name, index): [string, string] => [name, String.fromCodePoint(0xa0 + index)]),
  ...Object.entries(others),
]);

/** The longest name or zero-padded number that we look for. */
const maxLength = 20;

/**
 * Replaces references by their characters: "Sons &amp; Co" becomes "Sons & Co", even if a page escaped it twice
 * ("&amp;amp;"). A reference without a semicolon or a known name stays ("AT&T"). References to marks of code stay too,
 * since they would change what counts as code.
 */
export function withoutEntities(text: string): string {
  const [first = '', ...rest] = text.split(';');
  return rest.reduce((decoded, part) => closed(decoded) + part, first);
}

/** Includes the semicolon that follows, or whatever else ends the reference, which may be another semicolon. */
function closed(text: string): string {
  const [reference, name = ''] = /&(#?\w+)$/u.exec(text.slice(-maxLength)) ?? [];
  const character = reference === undefined ? undefined : characterOf(name);
  if (reference === undefined || character === undefined || character === '`') return `${text};`;
  const before = text.slice(0, -reference.length);
  return character === ';' ? closed(before) : before + character;
}

function characterOf(name: string): string | undefined {
  const [, hexadecimal, decimal] = /^#(?:[xX]([\dA-Fa-f]+)|(\d+))$/u.exec(name) ?? [];
  if (hexadecimal === undefined && decimal === undefined) return named.get(name);
  const code = Number.parseInt(hexadecimal ?? decimal ?? '', hexadecimal === undefined ? 10 : 16);
  // HTML Standard, "numeric character reference end state".
  if (code >= 0x80 && code <= 0x9f) return windowsCharacter(code);
  // An impossible character, or half of one, which nobody could read.
  return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? '' : String.fromCodePoint(code);
}
