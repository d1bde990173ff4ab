import fc from 'fast-check';
import type { IsolationWorld } from './isolationWorld.js';

export interface ProbeOptions {
  readonly probes?: number;
  /** Goes on for so long, however many probes that makes. */
  readonly minutes?: number;
  /** Both as a failure prints them. */
  readonly seed?: number;
  readonly path?: string;
  /** How many requests of a probe asked for what is others', and what they told. */
  readonly onProbed?: (probed: { readonly tried: number; readonly leaks: readonly string[] }) => void;
}

const absent = fc.stringMatching(/^[a-zA-Z0-9]{24}$/);

/** Lets random callers ask for random things of others; rejects at the first leak, with the seed that repeats it. */
export async function probeIsolation(world: IsolationWorld, options: ProbeOptions): Promise<void> {
  const { probes, minutes, seed, path, onProbed } = options;
  const { holdings } = world;
  const holding = fc.nat(holdings.length - 1);
  const probe = fc.asyncProperty(holding, holding, absent, async (from, of, nothing) => {
    const [caller, target] = [holdings[from], holdings[of]];
    if (caller === undefined || target === undefined) throw new RangeError('there is no such holding');
    const probed = await world.probe(caller, target, nothing);
    onProbed?.(probed);
    if (probed.leaks.length > 0) throw new Error(probed.leaks.join('\n'));
  });
  await fc.assert(probe, {
    ...(minutes === undefined
      ? { numRuns: probes ?? 60 }
      : {
          numRuns: Number.MAX_SAFE_INTEGER,
          interruptAfterTimeLimit: minutes * 60_000,
          markInterruptAsFailure: false,
        }),
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined ? {} : { path }),
  });
}
