import { createHash, type Hash } from 'node:crypto';
import { BackupError } from './backupError.js';
import * as format from './format.js';
import { forEachEntry, misplaced, parseJson, textOf, type ReadOptions } from './readArchive.js';
import { passOver } from './tar.js';

/** Handles the content of a backup, in its order. Each reader must read its content to the end. */
export interface BackupReader extends ReadOptions {
  readonly onHeader?: (header: format.BackupHeader) => Promise<void>;
  readonly onRows?: (table: string, rows: readonly format.Row[]) => Promise<void>;
  readonly onAdapterFile?: (adapterHash: string, file: string, content: AsyncIterable<Uint8Array>) => Promise<void>;
  readonly onDefaultKey?: (secret: string) => Promise<void>;
}

export interface ReadBackup {
  readonly header: format.BackupHeader;
  readonly manifest: format.BackupManifest;
}

/**
 * Reads a whole backup and compares it with its manifest. What the readers got is right once this resolves. Check the
 * seal first.
 * @throws BackupError if it is not a backup, has another format, or lacks what its manifest says
 */
export async function readBackup(file: string, reader: BackupReader): Promise<ReadBackup> {
  const sums = new Sums();
  const found: { header?: format.BackupHeader; manifest?: format.BackupManifest } = {};
  await forEachEntry(file, reader, async (entry) => {
    const of = format.kindOfEntry(entry.name);
    const isFirst = found.header === undefined;
    if (isFirst !== (of.kind === 'header') || found.manifest !== undefined) throw misplaced(file, entry);
    switch (of.kind) {
      case 'header':
        found.header = parseHeader(file, await textOf(entry));
        await reader.onHeader?.(found.header);
        break;
      case 'rows': {
        const rows = sums.addRows(of.table, await textOf(entry));
        await reader.onRows?.(of.table, rows);
        break;
      }
      case 'adapter': {
        const content = sums.addFile(of, entry.content);
        await (reader.onAdapterFile?.(of.adapter_hash, of.file, content) ?? passOver(content));
        break;
      }
      case 'defaultKey':
        await reader.onDefaultKey?.(await textOf(entry));
        break;
      case 'manifest':
        found.manifest = parseJson(file, format.manifest, await textOf(entry));
        break;
      case 'unknown':
        throw misplaced(file, entry);
    }
  });
  const { header, manifest } = found;
  if (header === undefined || manifest === undefined)
    throw new BackupError(`${file} is incomplete: it has no manifest`);
  sums.compare(file, manifest);
  return { header, manifest };
}

/** Reads the header of a backup. */
export async function readHeader(file: string): Promise<format.BackupHeader> {
  const found: format.BackupHeader[] = [];
  await forEachEntry(file, {}, async (entry) => {
    if (format.kindOfEntry(entry.name).kind !== 'header') throw misplaced(file, entry);
    found.push(parseHeader(file, await textOf(entry)));
    return 'enough';
  });
  const [header] = found;
  if (header === undefined) throw new BackupError(`${file} is no backup: it is empty`);
  return header;
}

function parseHeader(file: string, text: string): format.BackupHeader {
  const { format_version } = parseJson(file, format.outline, text);
  if (format_version !== format.formatVersion) {
    throw new BackupError(
      `${file} is of format ${format_version}, and this release reads format ${format.formatVersion}: ` +
        'restore it with the release that made it',
    );
  }
  return parseJson(file, format.header, text);
}

/** The rows and bytes so far. */
class Sums {
  readonly #tables = new Map<string, { rows: number; readonly hash: Hash }>();
  readonly #files = new Map<string, string>();

  addRows(table: string, text: string): format.Row[] {
    const sum = this.#tables.get(table) ?? { rows: 0, hash: createHash('sha256') };
    const rows = text
      .split('\n')
      .slice(0, -1)
      .map((line) => format.row.parse(JSON.parse(line)));
    sum.hash.update(text);
    sum.rows += rows.length;
    this.#tables.set(table, sum);
    return rows;
  }

  async *addFile(
    { adapter_hash, file }: { readonly adapter_hash: string; readonly file: string },
    content: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    for await (const piece of content) {
      hash.update(piece);
      yield piece;
    }
    this.#files.set(`${adapter_hash}/${file}`, hash.digest('hex'));
  }

  compare(file: string, { tables, adapters }: format.BackupManifest): void {
    const damaged = (what: string): BackupError =>
      new BackupError(`${file} is damaged: ${what} is not what its manifest says`);
    for (const [table, expected] of Object.entries(tables)) {
      const { rows, hash } = this.#tables.get(table) ?? { rows: 0, hash: createHash('sha256') };
      if (rows !== expected.rows || hash.digest('hex') !== expected.sha256) throw damaged(`table ${table}`);
      this.#tables.delete(table);
    }
    for (const [adapterHash, files] of Object.entries(adapters)) {
      for (const [name, sha256] of Object.entries(files)) {
        const key = `${adapterHash}/${name}`;
        if (this.#files.get(key) !== sha256) throw damaged(`the file ${name} of adapter ${adapterHash}`);
        this.#files.delete(key);
      }
    }
    const [unexpected] = [...this.#tables.keys(), ...this.#files.keys()];
    if (unexpected !== undefined) throw damaged(unexpected);
  }
}
