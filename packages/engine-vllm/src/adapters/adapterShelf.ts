import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { adapterFiles, EngineError, type AdapterProbe, type AdapterReference, type ModelFront } from '@engraft/engine';

export interface ShelvedAdapter {
  /** Also the name under which servers know it. */
  readonly name: string;
  /** Absolute, the same for whoever shares the folder. It has this adapter or none, now and later. */
  readonly folder: string;
  readonly probe: AdapterProbe | null;
}

/** How names begin that nothing refers to yet, or any more. */
const passingName = /^\.(placing|removing)-/;
const adapterName = /^sha256-[0-9a-f]{64}$/;

/**
 * Copies of adapters for servers, in a folder that they can read. Each has its content hash as its name, since a server
 * finds attention state again by the name alone and reads files again whenever it likes. A copy was checked whole: vLLM
 * takes nearly anything and then answers as base, or half adapted.
 *
 * Several processes may share the folder. A server that needs files which are gone ends with all that it runs. So files
 * stay until no server lists them, and nobody has loaded or unloaded them for an hour; no request takes that long.
 */
export class AdapterShelf {
  /** The probes of the adapters that this process has checked. */
  private readonly checked = new Map<string, Promise<AdapterProbe | null>>();

  constructor(
    private readonly home: string,
    private readonly front: Pick<ModelFront, 'checkAdapter'>,
  ) {}

  /** The name of an adapter's copy, whether it is there or not. */
  static nameOf({ contentHash }: Pick<AdapterReference, 'contentHash'>): string {
    return contentHash.replace(':', '-');
  }

  folderOf(name: string): string {
    return path.join(this.home, name);
  }

  /**
   * Puts a checked copy of an adapter in its place.
   * @throws EngineError `adapter_damaged` or `adapter_invalid`; `storage_full`
   */
  async place(reference: AdapterReference): Promise<ShelvedAdapter> {
    const name = AdapterShelf.nameOf(reference);
    const folder = this.folderOf(name);
    if (!(await this.touch(name))) this.checked.delete(name);
    let checking = this.checked.get(name);
    if (checking === undefined) {
      checking = this.check(name, reference);
      this.checked.set(name, checking);
      checking.catch(() => this.checked.delete(name));
    }
    return { name, folder, probe: await checking };
  }

  /** Whether the adapter is there. From now on it stays for another hour. */
  async touch(name: string): Promise<boolean> {
    const now = new Date();
    return utimes(this.folderOf(name), now, now).then(
      () => true,
      () => false,
    );
  }

  /**
   * Removes what no server lists and nobody has touched for so long.
   * @param listed the names that any server lists.
   */
  async sweep(listed: ReadonlySet<string>, idleMs: number): Promise<void> {
    for (const name of await readdir(this.home).catch(() => [])) {
      const folder = this.folderOf(name);
      if (!adapterName.test(name) && !passingName.test(name)) continue;
      const found = await stat(folder).catch(() => null);
      if (found === null || listed.has(name) || found.mtimeMs > Date.now() - idleMs) continue;
      const isPassing = passingName.test(name);
      const doomed = isPassing ? folder : path.join(this.home, `.removing-${randomBytes(6).toString('hex')}`);
      // Whoever loads it at this moment finds nothing, and places it again.
      if (!isPassing) await rename(folder, doomed);
      this.checked.delete(name);
      await rm(doomed, { recursive: true, force: true });
    }
  }

  private async check(name: string, reference: AdapterReference): Promise<AdapterProbe | null> {
    const { contentHash } = reference;
    const folder = this.folderOf(name);
    if (await this.touch(name)) {
      try {
        return await this.front.checkAdapter({ folder, contentHash });
      } catch (error) {
        if (!(error instanceof EngineError) || error.code !== 'adapter_damaged') throw error;
        await rm(folder, { recursive: true, force: true });
      }
    }
    return this.copy(folder, reference);
  }

  private async copy(folder: string, reference: AdapterReference): Promise<AdapterProbe | null> {
    const placing = path.join(this.home, `.placing-${randomBytes(6).toString('hex')}`);
    try {
      await mkdir(placing, { recursive: true });
      for (const file of adapterFiles) await copyFile(path.join(reference.folder, file), path.join(placing, file));
      const probe = await this.front.checkAdapter({ ...reference, folder: placing });
      await rename(placing, folder).catch((error: unknown) => {
        // Another process was faster with the same adapter.
        if (!isCode(error, ['EEXIST', 'ENOTEMPTY'])) throw error;
      });
      return probe;
    } catch (error) {
      if (isCode(error, ['ENOENT', 'ENOTDIR', 'EIO'])) {
        throw new EngineError('adapter_damaged', `${reference.folder}: a file is missing`, { cause: error });
      }
      if (isCode(error, ['ENOSPC', 'EDQUOT'])) {
        throw new EngineError('storage_full', `there is no room for an adapter in ${this.home}`, { cause: error });
      }
      throw error;
    } finally {
      await rm(placing, { recursive: true, force: true });
    }
  }
}

function isCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
