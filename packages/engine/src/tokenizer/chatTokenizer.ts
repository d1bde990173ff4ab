import { join } from 'node:path';
import { JsonFields } from '../checkpoint/jsonFields.js';
import { EngineError, type EncodeOptions } from '../engine.js';
import type { ChatMessage, ChatPrompt, TokenSequence, ToolDefinition } from '../types.js';
import { getOrCreate } from '../support/getOrCreate.js';
import { readAnswerMarkup, type AnswerMarkup } from './answerMarkup.js';
import { readAssistantTurn, type AssistantTurn } from './assistantTurn.js';
import { ChatTemplate } from './chatTemplate.js';
import { readTokenizerConfig, withDeclaredTokens } from './declaredTokens.js';
import { tokenText, tokenTexts } from './namedTokens.js';
import { withoutRowlessTokens } from './rowlessTokens.js';
import { TextCodec } from './textCodec.js';
import { mayThink } from './thinking.js';
import { isTokenId } from './vocabulary.js';

/** The largest vocabularies in use take about a tenth of this. */
const maxTokenizerBytes = 2 ** 28;

/** Makes a template for tools show how it writes turns. */
const probeTool: ToolDefinition = { name: 'probe', parameters: { type: 'object', properties: {} } };
const probeMessage: ChatMessage = { role: 'user', content: 'probe' };

/**
 * Converts conversations to token ids, and generated ids to text. Needs only the small files of a checkpoint
 * (`tokenizer.json`, `tokenizer_config.json`, the chat template, `generation_config.json`, `config.json`), so that a
 * process without the model can count tokens.
 */
export class ChatTokenizer {
  /** Turns by what they depend on. Read on first use. */
  private readonly turns = new Map<string, AssistantTurn | null>();
  private readonly thoughts = new Map<string, boolean>();
  readonly answerMarkup: AnswerMarkup;

  private constructor(
    private readonly codec: TextCodec,
    private readonly template: ChatTemplate,
    /** The token that ends an assistant's turn if the template does not say. One of `stopTokens`. */
    readonly endOfTurn: number,
    /** Each of these ends the generation. */
    readonly stopTokens: ReadonlySet<number>,
  ) {
    this.answerMarkup = readAnswerMarkup(codec.addedTokens, stopTokens, (text) => template.writes(text));
  }

  /** Opens the tokenizer of the model in `modelDir`. Rejects with `checkpoint_invalid`. */
  static async load(modelDir: string): Promise<ChatTokenizer> {
    const tokenizerJson = await JsonFields.read(join(modelDir, 'tokenizer.json'), 'tokenizer.json', maxTokenizerBytes);
    const config = await readTokenizerConfig(modelDir, tokenizerJson);
    const template = await ChatTemplate.load(modelDir, config);
    const stopTokens = await readEndOfSequence(modelDir);
    const declared = await withDeclaredTokens(modelDir, tokenizerJson, config);
    const named = Object.values(tokenTexts(config, ['bos_token', 'eos_token']));
    const known = await withoutRowlessTokens(
      modelDir,
      declared,
      ({ id, content }) => stopTokens.includes(id) || named.includes(content) || template.writes(content),
    );
    const codec = new TextCodec(known, config, stopTokens);
    const endOfTurn = endOfTurnToken(config, codec) ?? stopTokens[0];
    if (endOfTurn === undefined) {
      throw new EngineError(
        'checkpoint_invalid',
        'tokenizer_config.json: eos_token is absent, and neither generation_config.json nor config.json has eos_token_id',
      );
    }
    return new ChatTokenizer(codec, template, endOfTurn, new Set([endOfTurn, ...stopTokens]));
  }

  /** The size of the tokenizer's own vocabulary. */
  get vocabularySize(): number {
    return this.codec.vocabularySize;
  }

  hasToken(id: number): boolean {
    return this.codec.hasToken(id);
  }

  /** The prompt's text up to where the assistant is to speak. */
  render(prompt: ChatPrompt): string {
    return this.codec.withoutMarks(this.renderDisarmed(prompt));
  }

  encodePrompt(prompt: ChatPrompt): number[] {
    return this.codec.encode(this.renderDisarmed(prompt));
  }

  countTokens(prompt: ChatPrompt): number {
    return this.encodePrompt(prompt).length;
  }

  /**
   * Ids of text that the assistant writes after a prompt. Its markup (`<tool_call>`) becomes markup tokens. Control
   * tokens in it stay ordinary text.
   */
  encodeCompletion(text: string): number[] {
    return this.codec.encode(this.codec.disarm(text, { markup: true }), { continues: true });
  }

  /**
   * Ids of the beginning of an answer to `prompt`, after whatever the template writes before an answer.
   * @param text as for `encodeCompletion`.
   */
  encodeOpening(prompt: ChatPrompt, text: string): number[] {
    const turn = this.turnOf(prompt);
    if (turn === null || text === '') return this.encodeCompletion(text);
    const opening = turn.prefix + this.codec.disarm(text, { markup: true });
    const rendered = this.renderDisarmed(prompt);
    return this.encodeAfter(rendered, this.codec.encode(rendered), opening);
  }

  /**
   * The prompt, the completion and the end of the turn, as they stand when the conversation goes on. The targets are
   * everything after the prompt. Nothing in the completion becomes markup unless `markup` says that the model wrote it.
   */
  encodeExample(prompt: ChatPrompt, completion: string, { markup = false }: EncodeOptions = {}): TokenSequence {
    const rendered = this.renderDisarmed(prompt);
    const promptTokens = this.codec.encode(rendered);
    if (promptTokens.length === 0) throw new EngineError('invalid_request', 'the rendered prompt is empty');
    const turn = this.turnOf(prompt);
    const disarmed = this.codec.disarm(turn?.strips === true ? completion.trim() : completion, { markup });
    const answer =
      turn === null
        ? [...this.codec.encode(disarmed, { continues: true }), this.endOfTurn]
        : this.encodeAfter(rendered, promptTokens, turn.prefix + disarmed + turn.suffix + turn.end.content);
    return { tokens: [...promptTokens, ...answer], targetStart: promptTokens.length };
  }

  /** An answer that the model wrote after `prompt`, without the parts that belong to the turn. */
  bareAnswer(prompt: ChatPrompt, text: string): string {
    const turn = this.turnOf(prompt);
    if (turn === null) return text;
    if (turn.strips) return text.trim();
    const { prefix, suffix } = turn;
    const rest = text.startsWith(prefix) ? text.slice(prefix.length) : text;
    return rest.endsWith(suffix) ? rest.slice(0, rest.length - suffix.length) : rest;
  }

  /** The text of generated tokens, without control tokens, and without the token that has ended them. */
  decode(ids: readonly number[]): string {
    // Not every checkpoint declares this token special.
    const isEnded = this.stopTokens.has(ids.at(-1) ?? -1);
    return this.codec.decode(isEnded ? ids.slice(0, -1) : ids);
  }

  /** Whether an answer to `prompt` may begin with a thought, see `mayThink`. */
  mayThink({ tools = [], thinking }: ChatPrompt): boolean {
    const probeTools = this.probeToolsFor(tools);
    return getOrCreate(this.thoughts, keyOf(probeTools, thinking), () =>
      mayThink(thinking, {
        writes: (text) => this.template.writes(text),
        render: (each) => this.render({ messages: [probeMessage], tools: probeTools, thinking: each }),
      }),
    );
  }

  private renderDisarmed(prompt: ChatPrompt): string {
    return this.template.render(prompt, (text, options) => this.codec.disarm(text, options));
  }

  /** Ids of a text after a rendered prompt: the ids of both together, without the prompt's if they begin with these. */
  private encodeAfter(rendered: string, promptTokens: readonly number[], text: string): number[] {
    const together = this.codec.encode(rendered + text);
    const isPrompt = promptTokens.every((id, index) => together[index] === id);
    // A line break after the prompt's own may merge with it into one token, which generation never continues from.
    return isPrompt ? together.slice(promptTokens.length) : this.codec.encode(text, { continues: true });
  }

  /** Templates may write turns differently with tools of their own, and when the model is to think. */
  private turnOf({ tools = [], thinking }: ChatPrompt): AssistantTurn | null {
    const probeTools = this.probeToolsFor(tools);
    return getOrCreate(this.turns, keyOf(probeTools, thinking), () => {
      const prompt = { tools: probeTools, ...(thinking === undefined ? {} : { thinking }) };
      return readAssistantTurn({
        render: (messages) => this.template.render({ ...prompt, messages }, (text) => text),
        split: (text) => this.codec.split(text),
        stopTokens: this.stopTokens,
      });
    });
  }

  private probeToolsFor(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
    return tools.length > 0 && this.template.hasToolTemplate ? [probeTool] : [];
  }
}

function keyOf(probeTools: readonly ToolDefinition[], thinking: boolean | undefined): string {
  return JSON.stringify([probeTools.length, thinking ?? null]);
}

/** `eos_token_id` of the first file that has it, as in `transformers`: one id or a list. */
async function readEndOfSequence(modelDir: string): Promise<readonly number[]> {
  for (const name of ['generation_config.json', 'config.json']) {
    const fields = await JsonFields.readOptional(join(modelDir, name), name);
    const value = fields?.value('eos_token_id');
    if (fields === undefined || value === undefined) continue;
    const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
    return ids.map((id) => {
      if (isTokenId(id)) return id;
      throw fields.refusal('eos_token_id', 'a token id or a list of them');
    });
  }
  return [];
}

function endOfTurnToken(config: JsonFields, codec: TextCodec): number | undefined {
  const text = tokenText(config.value('eos_token'));
  if (text === undefined) return undefined;
  const token = codec.addedTokens.find((added) => added.content === text);
  if (token === undefined) throw config.refusal('eos_token', 'one of the added tokens of tokenizer.json');
  return token.id;
}
