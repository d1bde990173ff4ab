/** The tokens that `tokenizer_config.json` names. */
import { isJsonObject, type JsonFields } from '../checkpoint/jsonFields.js';

const tokenFields = ['bos_token', 'eos_token', 'pad_token', 'unk_token'] as const;
type TokenName = (typeof tokenFields)[number];

/** `bos_token`, `eos_token` and the like, which templates refer to by name. */
export function tokenTexts(
  tokenizerConfig: JsonFields,
  names: readonly TokenName[] = tokenFields,
): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const name of names) {
    const text = tokenText(tokenizerConfig.value(name));
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}

/** The text of a token in `tokenizer_config.json`: a string or, from older versions, an object with its text. */
export function tokenText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return isJsonObject(value) && typeof value['content'] === 'string' ? value['content'] : undefined;
}
