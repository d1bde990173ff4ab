import { z } from 'zod';

/** The rights that a key can have. See "Authentication" in the API document. */
export const scopes = ['read', 'inference', 'internalize', 'adapters'] as const;
export const scope = z.enum(scopes);
export type Scope = z.infer<typeof scope>;

export const defaultScopes: readonly Scope[] = ['inference'];
/** The advanced preset, which can look at and switch versions, but start no work. */
export const managementScopes: readonly Scope[] = ['read', 'adapters'];
