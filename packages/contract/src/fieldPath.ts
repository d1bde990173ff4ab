/** The most characters of a caller's own name that messages and paths repeat. */
export const maxEchoUnits = 300;

/** `['messages', 3, 'tool_call_id']` → `messages[3].tool_call_id` */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((written, step) => {
    if (typeof step === 'number') return `${written}[${step}]`;
    return written === '' ? String(step) : `${written}.${String(step)}`;
  }, '');
}
