/** The JSON object that a text is, with nothing before or after it. `null` for anything else. */
export function jsonObjectOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
