import { z } from 'zod';

/** The rights that a key may have; see "Authentication" in the API document. */
export const scopes = ['read', 'inference', 'internalize', 'adapters'] as const;
export const scope = z.enum(scopes);
export type Scope = z.infer<typeof scope>;

export const defaultScopes: readonly Scope[] = ['inference'];
/** The advanced preset that can look and switch versions, and start no work. */
export const managementScopes: readonly Scope[] = ['read', 'adapters'];
