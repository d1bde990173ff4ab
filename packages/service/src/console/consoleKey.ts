/** Jobs of the console belong to this key. */
export const console_key = { name: 'engraft console', scopes: ['inference', 'internalize'] } as const;
