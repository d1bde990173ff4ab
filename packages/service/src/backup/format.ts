import { z } from 'zod';

/**
 * A backup is a compressed tar archive, sealed at its end (see `seal.ts`). It has, in this order: `engraft-backup.json`
 * (the header), `tables/<table>/<part>.jsonl` (rows, one a line), `adapters/sha256-<hex>/…`, `default-key` if the data
 * folder has one, and `manifest.json`, which says what should have come.
 */
export const formatVersion = 1;

export const names = { header: 'engraft-backup.json', manifest: 'manifest.json', defaultKey: 'default-key' } as const;

const identifier = z.string().regex(/^[a-z_][a-z0-9_]*$/);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const adapterHashSchema = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const count = z.int().nonnegative();

/** Read before anything else, also from formats that this release cannot read. */
export const outline = z.object({ format: z.literal('engraft-backup'), format_version: z.int() });

export const header = z.strictObject({
  ...outline.shape,
  engraft_version: z.string(),
  /** When its snapshot was taken. */
  created_at: z.iso.datetime(),
  /** The schema of the rows. */
  migrations: z.array(z.strictObject({ name: z.string(), sha256 })),
  /** The columns of each table, in the order of a row. Generated ones are left out. */
  tables: z.record(identifier, z.array(identifier).min(1)),
});
export type BackupHeader = z.infer<typeof header>;

export const manifest = z.strictObject({
  /** The SHA-256 covers all lines of a table. */
  tables: z.record(identifier, z.strictObject({ rows: count, sha256 })),
  /** The SHA-256 of each file of an adapter. */
  adapters: z.record(adapterHashSchema, z.record(z.string(), sha256)),
  /** Adapters that versions need and the store does not have whole. */
  missing_adapters: z.array(adapterHashSchema),
});
export type BackupManifest = z.infer<typeof manifest>;

/** A row, each value as PostgreSQL writes it as text. */
export const row = z.array(z.string().nullable());
export type Row = z.infer<typeof row>;

const tablePart = /^tables\/([a-z_][a-z0-9_]*)\/\d+\.jsonl$/;
const adapterFile = /^adapters\/sha256-([0-9a-f]{64})\/([\w.]+)$/;

export type EntryKind =
  | { readonly kind: 'rows'; readonly table: string }
  | { readonly kind: 'adapter'; readonly adapter_hash: string; readonly file: string }
  | { readonly kind: 'header' | 'manifest' | 'defaultKey' | 'unknown' };

export function kindOfEntry(name: string): EntryKind {
  const [, table] = tablePart.exec(name) ?? [];
  if (table !== undefined) return { kind: 'rows', table };
  const [, hex, file] = adapterFile.exec(name) ?? [];
  if (hex !== undefined && file !== undefined) return { kind: 'adapter', adapter_hash: `sha256:${hex}`, file };
  for (const kind of ['header', 'manifest', 'defaultKey'] as const) if (names[kind] === name) return { kind };
  return { kind: 'unknown' };
}

export function nameOfPart(table: string, part: number): string {
  return `tables/${table}/${String(part).padStart(6, '0')}.jsonl`;
}

export function nameOfAdapterFile(adapterHash: string, file: string): string {
  return `adapters/${adapterHash.replace(':', '-')}/${file}`;
}

export type BackupPhase = 'database' | 'adapters' | 'checking' | 'restoring';

export interface BackupProgress {
  readonly phase: BackupPhase;
  readonly done: number;
  readonly total: number;
  readonly unit: 'rows' | 'bytes';
}
