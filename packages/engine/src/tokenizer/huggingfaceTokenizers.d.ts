/**
 * The part of `@huggingface/tokenizers` used here. The relative imports in the declarations of version 0.2.0 lack file
 * extensions, so that `moduleResolution: NodeNext` cannot follow them and every type reads as an error.
 */
declare module '@huggingface/tokenizers' {
  export class Tokenizer {
    /** The parsed `tokenizer.json` and `tokenizer_config.json`. Throws for kinds it does not know. */
    constructor(tokenizer: object, config: object);
    readonly normalizer: ((text: string) => string) | null;
    readonly pre_tokenizer: ((text: string) => string[]) | null;
    /** Tokens by id. */
    readonly model: { readonly vocab: string[] };
    encode(text: string, options?: { add_special_tokens?: boolean }): { ids: number[] };
    /** Throws on an empty list. */
    decode(ids: number[], options?: { skip_special_tokens?: boolean; clean_up_tokenization_spaces?: boolean }): string;
    id_to_token(id: number): string | undefined;
    get_vocab(withAddedTokens?: boolean): Map<string, number>;
  }
}
