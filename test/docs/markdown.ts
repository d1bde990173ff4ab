/** The little of Markdown that tests about documents need. */
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../../..');

/** Targets of the links to files of this repository, without their anchors. */
export function links(text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^https?:/.test(target));
}

/** The code type within lines; blocks of code are left out. */
export function codeSpans(text: string): string[] {
  const prose = text.replaceAll(/^```[^]*?^```/gm, '');
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
}

/** The part under the heading "The life of a …", up to the next heading. */
export function section(text: string, life: string): string {
  const [, part] = new RegExp(`^## The life of an? ${life}$([^]*?)^## `, 'm').exec(text) ?? [];
  return part ?? '';
}

/** The points of a numbered list, without their numbers. */
export function steps(text: string): string[] {
  const [, ...points] = text.split(/^\d+\. /m);
  // A paragraph of its own follows the list.
  return points.map((point) => point.split('\n\n')[0] ?? '');
}
