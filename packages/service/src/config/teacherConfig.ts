import { z } from 'zod';

/** An OpenAI-compatible server whose model writes the questions about passages. */
export interface TeacherConfig {
  /** Base address, which ends in `/v1`. */
  readonly url: string;
  readonly model: string;
  /** `null` if the server asks for none. It is never printed. */
  readonly apiKey: string | null;
}

export const teacherVariables = {
  ENGRAFT_TEACHER_URL: z
    .url({ protocol: /^https?$/, error: 'must start with http:// or https://' })
    .transform((url) => url.replace(/\/$/, ''))
    .refine((url) => url.endsWith('/v1'), 'must be a base address that ends in /v1')
    .refine((url) => !url.includes('@'), 'must hold no password: that is what ENGRAFT_TEACHER_API_KEY is for')
    .optional(),
  ENGRAFT_TEACHER_MODEL: z.string().optional(),
  // Refuses anything else that a header could not carry. The message must not show it.
  ENGRAFT_TEACHER_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .optional(),
};

type TeacherVariables = z.output<z.ZodObject<typeof teacherVariables>>;

/** Names what is missing from the three variables, as "VARIABLE fault". `null` if nothing is. */
export function missingOfTeacher(values: TeacherVariables): string | null {
  const { ENGRAFT_TEACHER_URL: url, ENGRAFT_TEACHER_MODEL: model, ENGRAFT_TEACHER_API_KEY: apiKey } = values;
  if (url !== undefined) return model === undefined ? 'ENGRAFT_TEACHER_MODEL is needed with ENGRAFT_TEACHER_URL' : null;
  if (model !== undefined) return 'ENGRAFT_TEACHER_URL is needed with ENGRAFT_TEACHER_MODEL';
  return apiKey === undefined ? null : 'ENGRAFT_TEACHER_URL is needed with ENGRAFT_TEACHER_API_KEY';
}

/** `null` if there is no remote teacher. */
export function teacherConfigOf(values: TeacherVariables): TeacherConfig | null {
  const { ENGRAFT_TEACHER_URL: url, ENGRAFT_TEACHER_MODEL: model, ENGRAFT_TEACHER_API_KEY: apiKey } = values;
  return url === undefined || model === undefined ? null : { url, model, apiKey: apiKey ?? null };
}
