const maxLength = 80;

/** A value from a file, shortened for an error message. */
export function abbreviate(value: unknown): string {
  if (value === undefined) return 'absent';
  if (typeof value === 'object' && value !== null && !isShallow(value)) return Array.isArray(value) ? '[...]' : '{...}';
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, maxLength)) : JSON.stringify(value);
  return text.length > maxLength ? `${text.slice(0, maxLength - 3)}...` : text;
}

/** A deep value could be nested so far that serialising it overflows the stack. */
function isShallow(value: object): boolean {
  const items: readonly unknown[] = Object.values(value);
  return items.length <= maxLength && items.every((item) => typeof item !== 'object' || item === null);
}
