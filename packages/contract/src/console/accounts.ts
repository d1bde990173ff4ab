import { z } from 'zod';

/** Accounts of the console: what `/console/api` takes and answers outside a project. */

/** A write comes with this header, which no form and no other site's page can send. */
export const consoleHeader = 'x-engraft-console';

export const memberRoles = ['viewer', 'developer', 'owner'] as const;
export const memberRole = z.enum(memberRoles);

export const emailAddress = z.email().max(254).toLowerCase();
const password = z.string().min(12, 'at least 12 characters').max(256, 'at most 256 characters');
const linkToken = z.string().regex(/^[\w-]{43}$/, 'this is no link of the console');

export const signInRequest = z.strictObject({ email: emailAddress, password: z.string().max(256) });
export const linkRequest = z.strictObject({ token: linkToken });
/** `email` is the link's, if it has one. */
export const setUpRequest = z.strictObject({ token: linkToken, email: emailAddress, password });

/** `email` is `null` if whoever opens the link chooses one. */
export const linkDetails = z.object({
  email: z.string().nullable(),
  resets_password: z.boolean(),
  role: memberRole.nullable(),
  /** The name of the project that the role is for; `null` for every project. */
  project: z.string().nullable(),
  expires_at: z.iso.datetime(),
});

export const consoleProject = z.object({ id: z.string(), name: z.string(), role: memberRole });
/**
 * `is_operator`: the member owns every project, and may do what belongs to the service as a whole. `sells_credit`:
 * owners of a project may buy credit for it.
 */
export const consoleSession = z.object({
  email: z.string(),
  is_operator: z.boolean(),
  model_id: z.string(),
  sells_credit: z.boolean(),
  projects: z.array(consoleProject),
});

export type MemberRole = z.infer<typeof memberRole>;
export type SignInRequest = z.input<typeof signInRequest>;
export type LinkRequest = z.input<typeof linkRequest>;
export type SetUpRequest = z.input<typeof setUpRequest>;
export type LinkDetails = z.infer<typeof linkDetails>;
export type ConsoleProject = z.infer<typeof consoleProject>;
export type ConsoleSession = z.infer<typeof consoleSession>;
