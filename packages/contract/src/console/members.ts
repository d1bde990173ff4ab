import { z } from 'zod';
import { memberRole } from './accounts.js';

/** Members of a project, invitations and the audit log: requests to `/console/api`, and their answers. */

const timestamp = z.iso.datetime();

export const consoleMember = z.object({
  id: z.string(),
  email: z.string(),
  role: memberRole,
  /** The role is for every project, and only operators change it. */
  is_everywhere: z.boolean(),
});
/** A link that nobody has used yet. Its secret was shown once. */
export const consoleInvitation = z.object({
  id: z.string(),
  role: memberRole,
  created_at: timestamp,
  expires_at: timestamp,
});
export const consoleMemberList = z.object({
  members: z.array(consoleMember),
  invitations: z.array(consoleInvitation),
});

export const roleRequest = z.strictObject({ role: memberRole });
/** The only answer that ever contains the token, which stands behind the `#` of the link. */
export const madeInvitation = z.object({ token: z.string(), expires_at: timestamp });

export const auditQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'it is no next_cursor')
    .optional(),
});
export const consoleAuditEvent = z.object({
  id: z.int(),
  occurred_at: timestamp,
  action: z.string(),
  actor: z.string(),
  reason: z.string().nullable(),
  project: z.string().nullable(),
  target: z.string(),
  details: z.unknown(),
});
export const consoleAuditLog = z.object({
  events: z.array(consoleAuditEvent),
  next_cursor: z.string().nullable(),
});

export type ConsoleMember = z.infer<typeof consoleMember>;
export type ConsoleInvitation = z.infer<typeof consoleInvitation>;
export type ConsoleMemberList = z.infer<typeof consoleMemberList>;
export type MadeInvitation = z.infer<typeof madeInvitation>;
export type ConsoleAuditEvent = z.infer<typeof consoleAuditEvent>;
export type ConsoleAuditLog = z.infer<typeof consoleAuditLog>;
