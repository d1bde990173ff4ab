import { learningResult } from '@engraft/contract';
import { rehearsalSchema } from '@engraft/learning';
import { z } from 'zod';

/**
 * A subject on its way to another installation: a tar archive, compressed and sealed like a backup. It has
 * `engraft-subject.json`, which is described here, and the adapters of its versions.
 */
export const formatVersion = 1;

export const descriptionName = 'engraft-subject.json';

export const exportedVersion = z.strictObject({
  id: z.string(),
  /** A version that comes before it in the file, or `null`. */
  parent_version_id: z.string().nullable(),
  created_at: z.iso.datetime(),
  adapter_hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size_bytes: z.int().positive(),
  passed_count: z.int().nonnegative(),
  total_count: z.int().nonnegative(),
  /** The questions that taught the version and its absent ancestors. */
  rehearsal: rehearsalSchema,
  /** `null` if the job that made it no longer says. */
  report: learningResult.pick({ validation: true, training: true }).nullable(),
});
export type ExportedVersion = z.infer<typeof exportedVersion>;

export const outline = z.object({ format: z.literal('engraft-subject'), format_version: z.int() });

export const description = z.strictObject({
  ...outline.shape,
  engraft_version: z.string(),
  created_at: z.iso.datetime(),
  name: z.string(),
  /** All versions were trained on this checkpoint, and are useless without it. */
  base_model_hash: z.string(),
  active_version_id: z.string(),
  /** The oldest first. */
  versions: z.array(exportedVersion).min(1),
});
export type SubjectDescription = z.infer<typeof description>;
