import { createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { adapterFiles, isAdapterIntact, type AdapterReference } from '@engraft/engine';
import { BackupError } from '../backup/backupError.js';
import { kindOfEntry } from '../backup/format.js';
import { forEachEntry, misplaced, parseJson, textOf } from '../backup/readArchive.js';
import { checkSeal } from '../backup/seal.js';
import { description, descriptionName, formatVersion, outline, type SubjectDescription } from './subjectFile.js';

export interface ReadSubject {
  readonly description: SubjectDescription;
  /** The versions' adapters by their hashes. All are whole. */
  readonly adapters: ReadonlyMap<string, AdapterReference>;
}

/**
 * Checks an exported subject, and puts its adapters into the empty `folder`.
 * @throws BackupError if the file is damaged, is no exported subject, or has another format
 */
export async function readSubjectFile(file: string, folder: string): Promise<ReadSubject> {
  await checkSeal(file, () => undefined);
  const described: SubjectDescription[] = [];
  const adapters = new Map<string, AdapterReference>();
  await forEachEntry(file, {}, async (entry) => {
    if (described.length === 0) {
      if (entry.name !== descriptionName) throw misplaced(file, entry, 'exported subject');
      described.push(parseDescription(file, await textOf(entry)));
      return;
    }
    const of = kindOfEntry(entry.name);
    if (of.kind !== 'adapter') throw misplaced(file, entry, 'exported subject');
    const adapter = { folder: path.join(folder, of.adapter_hash.replace(':', '-')), contentHash: of.adapter_hash };
    await mkdir(adapter.folder, { recursive: true, mode: 0o700 });
    await pipeline(entry.content, createWriteStream(path.join(adapter.folder, of.file), { flags: 'wx', mode: 0o600 }));
    adapters.set(of.adapter_hash, adapter);
  });
  const [subject] = described;
  if (subject === undefined) throw new BackupError(`${file} is no exported subject: it is empty`);
  for (const { id, adapter_hash, size_bytes } of subject.versions) {
    const adapter = adapters.get(adapter_hash);
    if (adapter === undefined || !(await isAdapterIntact(adapter))) {
      throw new BackupError(`${file} is damaged: the adapter of version ${id} is not ${adapter_hash}`);
    }
    // Hosting is charged by the size.
    if ((await sizeOf(adapter.folder)) !== size_bytes) {
      throw new BackupError(`${file} is damaged: the adapter of version ${id} does not have ${size_bytes} bytes`);
    }
  }
  return { description: subject, adapters };
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = await Promise.all(adapterFiles.map(async (name) => (await stat(path.join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function parseDescription(file: string, text: string): SubjectDescription {
  const found = parseJson(file, outline, text);
  if (found.format_version !== formatVersion) {
    throw new BackupError(
      `${file} is of format ${found.format_version}, and this release reads format ${formatVersion}: ` +
        'import it with the release that made it',
    );
  }
  return parseJson(file, description, text);
}
