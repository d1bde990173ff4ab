/** A heading, and how much it says about the text below it. */
import type { Said } from './said.js';
import type { Place } from './sayList.js';

/**
 * "Specifications" continues what the heading above named. Other headings that name nothing, such as "Prices", say
 * nothing about their keys.
 */
export function under(heading: string, { title }: Place): Pick<Place, 'title' | 'subject' | 'section' | 'caption'> {
  const below = { title, section: null, caption: heading };
  const release = versionIn(heading);
  if (release !== null) return { ...below, subject: `version ${release.version}` };
  if (heading.endsWith('?') || heading.length > maxSubject) return { ...below, subject: null };
  if (isGeneric(heading)) return { ...below, subject: title };
  const name = nameIn(heading);
  const isFirstName = title === null && !name.endsWith('s');
  return isFirstName || namesSomething(name) ? { ...below, title: name, subject: name } : { ...below, subject: null };
}

/** A longer heading is no name. */
const maxSubject = 80;

/** "3.1 Technical Specifications" is a part of what the document is about. */
function isGeneric(heading: string): boolean {
  return generic.test(heading.replace(/^\d+(?:\.\d+)*[.)]?\s+/u, ''));
}

const kindsOfPart =
  'key|technical|product|main|basic|general|quick|contact|additional|important|personal|further|other|company|project';
const parts =
  'specifications?|specs|details|facts|data|data ?sheet|features|overview|information|info|summary|profile|' +
  'description|introduction|background|contacts?|installation|requirements|dimensions|measurements|at a glance|faqs?|' +
  "what['’]s new|change ?log|release notes|version history|added|changed|improved|deprecated|removed|fixed|security";
const generic = new RegExp(`^(?:the )?(?:(?:${kindsOfPart}) )?(?:${parts})$`, 'iu');

/** "Venta R9" of "VENTA R9: TECHNICAL DATA". */
export function nameIn(heading: string): string {
  const parts = withoutCapitals(heading).split(/: | [–—-] /u);
  const named = parts.filter((part) => !isGeneric(part));
  return parts.length === 2 && named.length === 1 ? (named[0] ?? heading) : withoutCapitals(heading);
}

/** Writes words in capitals as names are written, if the whole heading is in capitals. */
function withoutCapitals(heading: string): string {
  if (/\p{Ll}{3}/u.test(heading) || !/\p{Lu}{4}/u.test(heading)) return heading;
  return heading.replace(/\p{Lu}{4,}/gu, (word) => word.charAt(0) + word.slice(1).toLowerCase());
}

/** Whether it has a capital after the first word, or a digit. */
export function namesSomething(heading: string): boolean {
  return /\p{N}|\s\p{Lu}/u.test(heading);
}

/** In a changelog, "3.2.0 (2025-03-18)" says when that version came. `title` names the document. */
export function releaseIn(heading: string, title: string | null): Said | null {
  const release = versionIn(heading);
  if (release === null) return null;
  const [subject, day] = [`version ${release.version}`, release.day];
  // "Changelog" names no program, and "Tarn 3 release notes" does by its beginning.
  const name = (title ?? '').replace(/ (?:change ?log|release notes|version history|releases)$/iu, '');
  const noun = /^\p{Lu}[\p{L}\p{N} -]*$/u.test(name) && !isGeneric(name) ? name : null;
  return {
    text: `Version ${release.version} was released on ${day}.`,
    told: { kind: 'attribute', key: 'release date', subject, noun, moment: null, answer: day },
  };
}

function versionIn(heading: string): { readonly version: string; readonly day: string } | null {
  const [, version, day] = release.exec(heading) ?? [];
  return version === undefined || day === undefined ? null : { version, day };
}

const timestamp = '[T ]\\d{2}:\\d{2}(?::\\d{2})?(?:Z|[+-]\\d{2}:?\\d{2})?';
const date = `\\d{4}-\\d{2}-\\d{2}(?:${timestamp})?|\\d{1,2} \\p{L}{3,9} \\d{4}|\\p{L}{3,9} \\d{1,2},? \\d{4}`;
const release = new RegExp(
  `^(?:version |release )?\\[?v?(\\d+(?:\\.\\d+)+[\\w.-]*)\\]?[ (–—-]+(?:released (?:on )?)?(${date})\\)?$`,
  'iu',
);

/** A first line that stands alone and ends no sentence is the title of the lists and tables below. */
export function isTitle(text: string): boolean {
  return text.length <= maxSubject && /^[^\n]*[^\n.!?,;:]$/u.test(text) && /^[\p{L}\p{N}]/u.test(text);
}
