/** `ORG/NAME[@REVISION]`. */
export interface ModelName {
  /** `ORG/NAME` */
  readonly id: string;
  /** A branch, a tag or a commit. The default is `main`. */
  readonly revision: string;
}

export const defaultRevision = 'main';

/** Hubs allow this in either part: at most 96 letters, digits, `_`, `-` and `.`, which is not at an end. */
const part = /^(?![.-])[\w.-]{1,96}(?<![.-])$/;

/**
 * `null` if it is no such name. Both parts and the revision become names of folders, so names that could lead out of
 * the cache are refused.
 */
export function parseModelName(text: string): ModelName | null {
  const [id = '', ...rest] = text.split('@');
  const parts = id.split('/');
  if (parts.length !== 2 || !parts.every(isPart) || rest.length > 1) return null;
  const [revision = defaultRevision] = rest;
  return isRevision(revision) ? { id, revision } : null;
}

/** `--` separates the parts in the names of folders. */
function isPart(text: string): boolean {
  return part.test(text) && !text.includes('--') && !text.includes('..') && !text.endsWith('.git');
}

/** Allows what git allows, and a little less. */
function isRevision(text: string): boolean {
  return (
    text.length <= 250 &&
    text.split('/').every((each) => /^(?![.-])[\w.+-]+(?<!\.)$/.test(each) && !each.includes('..'))
  );
}

/** Writes a name for messages, which can be typed again, without `@main`. */
export function writeModelName({ id, revision }: ModelName): string {
  return revision === defaultRevision ? id : `${id}@${revision}`;
}

const commit = /^[0-9a-f]{40}$/;

export function isCommit(text: string): boolean {
  return commit.test(text);
}
