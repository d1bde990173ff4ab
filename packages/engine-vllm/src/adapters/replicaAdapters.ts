import { EngineError, type AdapterReference } from '@engraft/engine';
import { setTimeout as sleep } from 'node:timers/promises';
import { AdapterShelf, type ShelvedAdapter } from './adapterShelf.js';
import { hasEffect, isSameAdapter } from './probeCheck.js';

/** The calls of a server about adapters. Each call rejects with `ReplicaAway` if the server did not answer. */
export interface AdapterServer {
  /** The adapters that it lists, by name, with their folders. */
  list(): Promise<ReadonlyMap<string, string>>;
  load(adapter: ShelvedAdapter): Promise<LoadOutcome>;
  unload(name: string): Promise<void>;
  /** The losses of sequences through an adapter, or through base. */
  losses(name: string | null, sequences: readonly (readonly number[])[]): Promise<readonly number[]>;
}

export type LoadOutcome =
  | { readonly kind: 'loaded' }
  /** The server does not see the folder. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'refused'; readonly reason: string };

/** The server cannot be asked now. Nothing that counts was executed. */
export class ReplicaAway extends Error {
  override readonly name = 'ReplicaAway';
}

interface Held {
  users: number;
}

/** How often in a row a server is asked about an adapter that it gives no numbers for, though it does for base. */
const maxSilences = 5;

/** How often a server that has no room is looked at again. */
const roomPollMs = 50;

/**
 * The adapters that one server has under a name. At most `maxNames` at once: beyond its own bound (`--max-cpu-loras`) a
 * server reads files again in the middle of its work. Other processes may use the same server, so its list is asked
 * for, and a name may be gone by the next request.
 */
export class ReplicaAdapters {
  /** Probed adapters, the least recently used first. */
  private readonly held = new Map<string, Held>();
  /** How often in a row the server gave no losses of an adapter. */
  private readonly silences = new Map<string, number>();
  /** Loading is one at a time, so that the bound holds. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly server: AdapterServer,
    private readonly shelf: AdapterShelf,
    /** Sequences for adapters that were saved without a probe. */
    private readonly base: { readonly sequences: readonly (readonly number[])[] },
    private readonly maxNames: number,
  ) {}

  /**
   * Makes an adapter usable by its name until it is released.
   * @throws EngineError about the adapter; `ReplicaAway`; `cancelled`
   */
  async hold(reference: AdapterReference, signal?: AbortSignal): Promise<{ readonly name: string; release(): void }> {
    const name = AdapterShelf.nameOf(reference);
    if (!this.held.has(name)) {
      const loading = this.turn.then(() => this.load(reference, signal));
      this.turn = loading.catch(() => undefined);
      await loading;
    }
    const held = this.held.get(name);
    if (held === undefined) return this.hold(reference, signal);
    held.users += 1;
    this.held.delete(name);
    this.held.set(name, held);
    return { name, release: () => void (held.users -= 1) };
  }

  /** The server has lost it, or all of them. */
  forget(name?: string): void {
    if (name === undefined) this.held.clear();
    else this.held.delete(name);
  }

  private async load(reference: AdapterReference, signal: AbortSignal | undefined): Promise<void> {
    const name = AdapterShelf.nameOf(reference);
    if (this.held.has(name)) return;
    const adapter = await this.shelf.place(reference);
    const listed = await this.server.list();
    // One under this name elsewhere may have any content.
    if (listed.has(name) && listed.get(name) !== adapter.folder) await this.server.unload(name);
    if (listed.get(name) !== adapter.folder) {
      await this.makeRoom(signal);
      await this.register(reference, adapter);
    }
    await this.probe(adapter);
    // Files that another process removed meanwhile are put back: the content is the same.
    if (!(await this.shelf.touch(name))) await this.shelf.place(reference);
    this.held.set(name, { users: 0 });
  }

  private async register(reference: AdapterReference, adapter: ShelvedAdapter, attempt = 1): Promise<void> {
    const outcome = await this.server.load(adapter);
    if (outcome.kind === 'loaded') return;
    if (outcome.kind === 'refused') {
      throw new EngineError('adapter_invalid', `a vLLM server refuses the adapter: ${outcome.reason}`);
    }
    if (attempt > 1) {
      const message = `a vLLM server does not see ${adapter.folder}: it must have this folder under the same path`;
      throw new EngineError('internal', message);
    }
    await this.shelf.place(reference);
    await this.register(reference, adapter, attempt + 1);
  }

  /** Unloads what was not used for longest. Requests of other processes with it run to their ends. */
  private async makeRoom(signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const listed = [...(await this.server.list()).keys()];
      if (listed.length < this.maxNames) return;
      const isFree = (name: string): boolean => (this.held.get(name)?.users ?? 0) === 0;
      const unknown = listed.filter((name) => !this.held.has(name));
      const victim = [...unknown, ...this.held.keys()].find((name) => listed.includes(name) && isFree(name));
      if (victim === undefined) {
        await sleep(roomPollMs);
        if (signal?.aborted === true) throw new EngineError('cancelled', 'the call was cancelled');
        continue;
      }
      this.held.delete(victim);
      // Requests that other processes have under way may still need the files.
      await this.shelf.touch(victim);
      await this.server.unload(victim);
    }
  }

  /** An adapter that brings its server to silence must not keep whoever asks for it waiting for ever. */
  private async lossesOf(name: string, sequences: readonly (readonly number[])[]): Promise<readonly number[]> {
    const silences = (this.silences.get(name) ?? 0) + 1;
    this.silences.delete(name);
    try {
      return await this.server.losses(name, sequences);
    } catch (error) {
      if (!(error instanceof ReplicaAway)) throw error;
      if (silences === maxSilences) {
        throw new EngineError('adapter_invalid', `a vLLM server gives no losses of ${name}: ${error.message}`);
      }
      this.silences.set(name, silences);
      throw error;
    }
  }

  /** Nothing else shows that the server has the adapter as it was trained. */
  private async probe({ name, probe }: ShelvedAdapter): Promise<void> {
    const sequences = probe?.sequences ?? this.base.sequences;
    const base = await this.server.losses(null, sequences);
    const losses = await this.lossesOf(name, sequences);
    if (probe === null ? hasEffect(losses, base) : isSameAdapter(losses, probe.losses, base)) return;
    await this.server.unload(name);
    const told = losses.map((loss) => loss.toFixed(3)).join(', ');
    const expected =
      probe === null ? 'something else than base gives' : probe.losses.map((x) => x.toFixed(3)).join(', ');
    throw new EngineError('adapter_invalid', `a vLLM server has ${name} wrong: it gives ${told}, not ${expected}`);
  }
}
