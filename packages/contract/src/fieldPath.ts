/** The most characters of a caller's own name that messages and paths repeat. */
export const maxEchoUnits = 300;

/** `['messages', 3, 'tool_call_id']` → `messages[3].tool_call_id` */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((written, step) => {
    if (typeof step === 'number') return `${written}[${step}]`;
    return written === '' ? shownName(String(step)) : `${written}.${shownName(String(step))}`;
  }, '');
}

/** A name that is empty is shown as `""`, since no path at all means the body itself. */
export function shownName(name: string): string {
  return name === '' ? '""' : name;
}
