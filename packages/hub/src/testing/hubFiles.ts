/** Files as a hub lists them. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

export interface ListedFile {
  readonly type: 'file' | 'directory';
  readonly path: string;
  readonly size: number;
  readonly oid: string;
  readonly lfs?: { readonly oid: string; readonly size: number; readonly pointerSize: number };
}

export type Files = Readonly<Record<string, Buffer | string>>;

/** Every file below a folder, by its path in it. */
export async function filesIn(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    await Promise.all(paths.map(async (file) => [relative(folder, file), await readFile(file)] as const)),
  );
}

export function entriesOf(files: Files): readonly ListedFile[] {
  const folder = { type: 'directory', path: 'onnx', size: 0, oid: '0'.repeat(40) } as const;
  return [folder, ...Object.entries(files).map(([path, content]) => entryOf(path, Buffer.from(content)))];
}

/** As on the real hub, weights and tokenizers are in LFS. The `oid` of such a file is that of its pointer. */
export function entryOf(path: string, content: Buffer): ListedFile {
  const size = content.length;
  if (!/\.safetensors$|^tokenizer\.json$/.test(path)) return { type: 'file', path, size, oid: gitHash(content) };
  const oid = sha256(content);
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
  return {
    type: 'file',
    path,
    size,
    oid: gitHash(Buffer.from(pointer)),
    lfs: { oid, size, pointerSize: pointer.length },
  };
}

export function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The hash that `git hash-object` prints. */
export function gitHash(content: Buffer | string): string {
  const bytes = Buffer.from(content);
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
