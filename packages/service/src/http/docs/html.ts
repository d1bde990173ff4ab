/** Markup that needs no escaping any more. */
export class Html {
  constructor(readonly text: string) {}
}

type Value = string | number | Html | readonly Html[];

/** A template whose values are escaped, unless they are markup already. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const text = strings.reduce((written, part, index) => written + toText(values[index - 1] ?? '') + part);
  return new Html(text);
}

export const nothing = new Html('');

function toText(value: Value): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
