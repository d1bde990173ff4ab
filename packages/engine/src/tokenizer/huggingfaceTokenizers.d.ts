/**
 * The part of `@huggingface/tokenizers` used here. Version 0.2.0 ships declarations whose relative imports lack
 * file extensions, which `moduleResolution: NodeNext` cannot follow, so that every type of it reads as an error.
 */
declare module '@huggingface/tokenizers' {
  export class Tokenizer {
    /** The parsed `tokenizer.json` and `tokenizer_config.json`; throws on kinds it does not know. */
    constructor(tokenizer: object, config: object);
    readonly normalizer: ((text: string) => string) | null;
    /** Tokens by their id. */
    readonly model: { readonly vocab: string[] };
    encode(text: string, options?: { add_special_tokens?: boolean }): { ids: number[] };
    /** Throws on an empty list. */
    decode(ids: number[], options?: { skip_special_tokens?: boolean; clean_up_tokenization_spaces?: boolean }): string;
    id_to_token(id: number): string | undefined;
    get_vocab(withAddedTokens?: boolean): Map<string, number>;
  }
}
