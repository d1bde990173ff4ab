/** Jobs of the console belong to this key. */
export const consoleKey = { name: 'engraft console', scopes: ['inference', 'internalize'] } as const;
