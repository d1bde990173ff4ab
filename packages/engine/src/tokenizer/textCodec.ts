import { randomBytes } from 'node:crypto';
import { Tokenizer } from '@huggingface/tokenizers';
import { abbreviate } from '../support/abbreviate.js';
import type { JsonFields } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';
import { readAddedTokens, type AddedToken } from './addedTokens.js';
import { withWrittenPattern } from './gpt2Pattern.js';
import { tokenTexts } from './namedTokens.js';
import { TokenSplitter, tokenPattern } from './tokenSplitter.js';
import { checkVocabularyIds } from './vocabulary.js';

/**
 * Converts text to token ids and back, with the one rule that matters for safety: **a control token or markup token is
 * produced only where whoever assembled the text left it whole.**
 *
 * A chat template returns one string. Its own control tokens and the messages' contents can no longer be told apart in
 * it. So the contents pass through `disarm` before they are rendered. It inserts `mark`, a text that nobody can guess,
 * after the first character of everything that reads like a control token. `encode` then splits at the added tokens
 * that are whole, removes the marks from the pieces between, and encodes these with a tokenizer that knows no added
 * tokens. So a `<|im_end|>` typed by a user becomes ordinary tokens like any other punctuation. Texts without control
 * tokens in their messages are encoded exactly as in Hugging Face `transformers`. Words added to the vocabulary are no
 * control tokens and stay as they are.
 */
export class TextCodec {
  readonly addedTokens: readonly AddedToken[];
  /** The size of the tokenizer's vocabulary. A model may pad its own beyond it. */
  readonly vocabularySize: number;
  private readonly mark = `\uFDD0${randomBytes(16).toString('hex')}\uFDD0`;
  /** Finds syntax, and words that are searched before the text is normalised. */
  private readonly whole: TokenSplitter;
  /** Finds the other words in normalised text. */
  private readonly normalizedWords: TokenSplitter;
  /** Each finds the first character of every occurrence, even of overlapping ones. */
  private readonly syntaxBeginning: RegExp | undefined;
  private readonly controlBeginning: RegExp | undefined;
  private readonly controlIds: ReadonlySet<number>;
  private readonly decoder: Tokenizer;
  private readonly plainEncoder: Tokenizer;
  private readonly source: string;

  /** @param stopTokens ids that end the generation, whatever they look like. */
  constructor(tokenizerJson: JsonFields, tokenizerConfig: JsonFields, stopTokens: readonly number[]) {
    this.source = tokenizerJson.source;
    checkVocabularyIds(tokenizerJson);
    const named = Object.values(tokenTexts(tokenizerConfig));
    const isNamed = ({ id, content }: Pick<AddedToken, 'id' | 'content'>): boolean =>
      stopTokens.includes(id) || named.includes(content);
    this.addedTokens = readAddedTokens(tokenizerJson, isNamed);
    const syntax = this.addedTokens.filter(({ kind }) => kind !== 'word');
    this.syntaxBeginning = beginningOf(syntax);
    const control = syntax.filter(({ kind }) => kind === 'control');
    this.controlBeginning = beginningOf(control);
    this.controlIds = new Set(control.map((token) => token.id));
    this.decoder = this.contained(() => new Tokenizer(tokenizerJson.raw, tokenizerConfig.raw));
    const ids = [...this.contained(() => this.decoder.get_vocab()).values()];
    this.vocabularySize = ids.reduce((largest, id) => Math.max(largest, id), -1) + 1;
    const words = this.addedTokens.filter(({ kind }) => kind === 'word');
    this.whole = new TokenSplitter([...syntax, ...words.filter(({ normalized }) => !normalized)]);
    const normalizedWords = words
      .filter(({ normalized }) => normalized)
      .map((word) => ({ ...word, content: this.normalize(word.content) }))
      .filter(({ content }) => content !== '');
    this.normalizedWords = new TokenSplitter(normalizedWords);
    // `tokenizers` finds the word `the` of Llama 2 as `▁the` and writes it so. The library only finds it.
    for (const { id, content } of normalizedWords) this.decoder.model.vocab[id] = content;
    // The mark is this tokenizer's only added token. Before a text it means "not the beginning", which matters to
    // tokenizers that prepend a space to the first piece only.
    const sentinel = { id: this.vocabularySize, content: this.mark, special: true, normalized: false };
    const plainJson = { ...withWrittenPattern(tokenizerJson), normalizer: null, added_tokens: [sentinel] };
    this.plainEncoder = this.contained(() => new Tokenizer(plainJson, tokenizerConfig.raw));
    this.refuseSpellableTokens(new Set(words.map(({ id }) => id)));
  }

  /**
   * Makes control tokens inside `text` harmless for `encode`. With `markup` true the model's own syntax (`<think>`,
   * `<tool_call>`) stays whole, for text from the assistant or the application.
   */
  disarm(text: string, { markup }: { readonly markup: boolean }): string {
    const beginning = markup ? this.controlBeginning : this.syntaxBeginning;
    return beginning === undefined ? text : text.replace(beginning, (first) => first + this.mark);
  }

  /** The text for readers, without the marks of `disarm`. */
  withoutMarks(text: string): string {
    return text.replaceAll(this.mark, '');
  }

  /** The text split at its added tokens, except for those that `disarm` broke up. */
  split(text: string): readonly (AddedToken | string)[] {
    return this.whole.split(text);
  }

  /** Token ids of a text. `continues` says that it follows other text and gets no beginning-of-text treatment. */
  encode(text: string, { continues = false }: { readonly continues?: boolean } = {}): number[] {
    const ids: number[] = [];
    let atBeginning = !continues;
    for (const part of this.split(text)) {
      if (typeof part !== 'string') ids.push(part.id);
      else for (const id of this.encodeOrdinary(this.withoutMarks(part), atBeginning)) ids.push(id);
      atBeginning = false;
    }
    return ids;
  }

  hasToken(id: number): boolean {
    return this.decoder.id_to_token(id) !== undefined;
  }

  /** The text of generated tokens, without control tokens. Ids beyond the vocabulary have no text. */
  decode(ids: readonly number[]): string {
    const textual = ids.filter((id) => !this.controlIds.has(id) && this.hasToken(id));
    if (textual.length === 0) return '';
    const options = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
    return this.contained(() => this.decoder.decode(textual, options));
  }

  /** A vocabulary without all 256 bytes and without an unknown token leaves gaps. */
  private encodeOrdinary(text: string, atBeginning: boolean): number[] {
    const ids = this.ordinaryIds(text, atBeginning);
    if (!ids.every(Number.isInteger)) {
      throw new EngineError('invalid_request', 'the text has a character that the tokenizer has no token for');
    }
    return ids;
  }

  private ordinaryIds(text: string, atBeginning: boolean): number[] {
    const parts = this.normalizedWords.split(this.normalize(text));
    return parts.flatMap((part, index) =>
      typeof part === 'string' ? this.plainIds(part, atBeginning && index === 0) : [part.id],
    );
  }

  /** @param text normalised and without added tokens. */
  private plainIds(text: string, atBeginning: boolean): number[] {
    const options = { add_special_tokens: false };
    return this.contained(() =>
      atBeginning
        ? this.plainEncoder.encode(text, options).ids
        : this.plainEncoder.encode(this.mark + text, options).ids.slice(1),
    );
  }

  private normalize(text: string): string {
    return this.contained(() => this.decoder.normalizer?.(text) ?? text);
  }

  /** A vocabulary in which ordinary text can spell a control token would defeat `disarm`. */
  private refuseSpellableTokens(wordIds: ReadonlySet<number>): void {
    for (const token of this.addedTokens.filter(({ kind }) => kind === 'control')) {
      if (wordIds.has(token.id) || this.ordinaryIds(token.content, false).includes(token.id)) {
        const message = `${this.source}: ordinary text can spell the token ${abbreviate(token.content)}`;
        throw new EngineError('checkpoint_invalid', message);
      }
    }
  }

  /** The library checks some settings only when it uses them. */
  private contained<T>(use: () => T): T {
    try {
      return use();
    } catch (error) {
      const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
      throw new EngineError('checkpoint_invalid', `${this.source}: ${reason}`, { cause: error });
    }
  }
}

function beginningOf(tokens: readonly AddedToken[]): RegExp | undefined {
  const pattern = tokenPattern(tokens);
  return pattern && new RegExp(`(?=${pattern.source})[^]`, 'g');
}
