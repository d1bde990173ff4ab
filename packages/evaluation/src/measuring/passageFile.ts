import { parseParagraphs } from '../squad/paragraphs.js';
import { parsePassageSet, type PassageSet } from './passageSet.js';
import { squadPassages } from './squadPassages.js';

/** Reads passages with questions, in our own format or any of SQuAD's. */
export function parsePassageFile(text: string): PassageSet {
  // Some editors begin a file with a byte order mark.
  const content = text.replace(/^\uFEFF/u, '');
  const lines = content.split('\n');
  const first = lines.findIndex((line) => line.trim() !== '');
  const fields = fieldsOf(lines[first] ?? '') ?? fieldsOf(content);
  if (fields !== null && ['data', 'context', 'qas', 'answers'].some((field) => fields.has(field))) {
    return fromSquad(content);
  }
  // An empty file has neither format. The reader of our own format refuses it.
  if (first === -1 || (fields !== null && ['id', 'kind', 'passage', 'questions'].some((field) => fields.has(field)))) {
    return parsePassageSet(content);
  }
  return { kind: 'invalid', line: first + 1, field: '', message: neither };
}

const neither =
  'must be a passage {id, kind, passage, questions} or, as SQuAD has them, a document {data}, ' +
  'a paragraph {title, context, qas} or a row {title, context, question, answers}';

function fromSquad(content: string): PassageSet {
  const set = parseParagraphs(content);
  if (set.kind === 'invalid') return set;
  const passages = squadPassages(set.paragraphs);
  if (passages.length > 0) return { kind: 'read', passages };
  const message = 'there is no paragraph of 20 to 16,000 characters with a question that it answers';
  return { kind: 'invalid', line: 1, field: '', message };
}

/** `null` if the text is no JSON object. */
function fieldsOf(text: string): ReadonlySet<string> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? new Set(Object.keys(value)) : null;
  } catch {
    return null;
  }
}
