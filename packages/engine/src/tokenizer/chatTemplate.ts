import { isJsonObject, type JsonFields } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';
import { parseWithExactNumbers, restoreNumbers } from '../support/exactNumbers.js';
import { getOrCreate } from '../support/getOrCreate.js';
import type { ChatMessage, ChatPrompt, ToolDefinition } from '../types.js';
import { BoundedTemplate, JoinError } from './boundedTemplate.js';
import { tokenTexts } from './namedTokens.js';
import { readTemplateSources, type TemplateSources } from './templateSources.js';

/** Makes a text harmless before it is rendered. `markup` is as in `TextCodec.disarm`. */
export type Disarm = (text: string, options: { readonly markup: boolean }) => string;

const probeMessage: ChatMessage = { role: 'user', content: 'probe' };
/** Some templates want ids of nine letters and digits. */
const probeCall = { id: 'probe1234', name: 'probe_of_calls', arguments: '{}' };
const probeCalls: readonly ChatMessage[] = [
  probeMessage,
  { role: 'assistant', content: '', toolCalls: [probeCall] },
  { role: 'tool', content: 'probe', toolCallId: probeCall.id },
];

/** How a template wants calls. */
interface CallStyle {
  /** Whether their arguments are JSON text rather than its value. */
  readonly textArguments: boolean;
  /** Whether a message that has calls and no text has `none` for its content. */
  readonly noneForEmpty: boolean;
}

/** A checkpoint's chat template, rendered with the variables that Hugging Face `transformers` provides. */
export class ChatTemplate {
  private readonly template: BoundedTemplate;
  private readonly toolTemplate: BoundedTemplate;
  /** Results of `wantsNone`. */
  private readonly nones = new Map<BoundedTemplate, boolean>();

  constructor(
    private readonly sources: TemplateSources,
    private readonly tokenVariables: Readonly<Record<string, string>>,
  ) {
    this.template = parsed(sources.default, 'chat template');
    this.toolTemplate =
      sources.toolUse === undefined ? this.template : parsed(sources.toolUse, 'chat template tool_use');
  }

  /** Whether prompts with tools have a template of their own. */
  get hasToolTemplate(): boolean {
    return this.toolTemplate !== this.template;
  }

  /** Whether either template's source contains the text. */
  writes(text: string): boolean {
    return this.sources.default.includes(text) || this.sources.toolUse?.includes(text) === true;
  }

  /** Rejects with `checkpoint_invalid`, also for a template that renders not even the simplest conversation. */
  static async load(modelDir: string, tokenizerConfig: JsonFields): Promise<ChatTemplate> {
    const sources = await readTemplateSources(modelDir, tokenizerConfig);
    const template = new ChatTemplate(sources, tokenTexts(tokenizerConfig));
    template.requireUsable();
    return template;
  }

  /**
   * Renders the conversation up to where the assistant is to speak. Every text of the caller passes through `disarm`.
   * The assistant's messages, and what the application wrote, may keep the model's markup. If the template takes no
   * system message, its text begins the user's first message.
   */
  render(prompt: ChatPrompt, disarm: Disarm): string {
    try {
      return this.renderAsGiven(prompt, disarm);
    } catch (error) {
      const refused = new EngineError(
        'invalid_request',
        `the chat template refuses this conversation: ${reasonOf(error)}`,
        { cause: error },
      );
      const without = withoutSystemMessage(prompt);
      if (without === null) throw refused;
      try {
        return this.renderAsGiven(without, disarm);
      } catch {
        throw refused;
      }
    }
  }

  private requireUsable(): void {
    const asGiven: Disarm = (text) => text;
    try {
      this.renderAsGiven({ messages: [probeMessage] }, asGiven);
    } catch (error) {
      try {
        // Some templates refuse a conversation without a system message.
        this.renderAsGiven({ messages: [{ role: 'system', content: 'probe' }, probeMessage] }, asGiven);
      } catch {
        throw invalid('chat template', error);
      }
    }
  }

  private renderAsGiven(prompt: ChatPrompt, disarm: Disarm): string {
    const hasCalls = prompt.messages.some(({ toolCalls = [] }) => toolCalls.length > 0);
    const noneForEmpty = hasCalls && this.wantsNone(this.templateFor(prompt));
    return this.renderCalls(prompt, disarm, noneForEmpty);
  }

  /** Only where a template joins arguments with a text, they must be text. */
  private renderCalls(prompt: ChatPrompt, disarm: Disarm, noneForEmpty: boolean): string {
    try {
      return this.renderOnce(prompt, disarm, { textArguments: false, noneForEmpty });
    } catch (error) {
      if (!(error instanceof JoinError)) throw error;
      return this.renderOnce(prompt, disarm, { textArguments: true, noneForEmpty });
    }
  }

  /** Whether the template writes calls only beside a content of `none`, as DeepSeek's do. */
  private wantsNone(template: BoundedTemplate): boolean {
    return getOrCreate(this.nones, template, () => {
      const tools = template === this.template ? [] : [{ name: 'probe', parameters: {} }];
      const writesCall = (noneForEmpty: boolean): boolean => {
        try {
          return this.renderCalls({ messages: probeCalls, tools }, (text) => text, noneForEmpty).includes(
            probeCall.name,
          );
        } catch {
          return false;
        }
      };
      return !writesCall(false) && writesCall(true);
    });
  }

  private templateFor({ tools = [] }: ChatPrompt): BoundedTemplate {
    return tools.length === 0 ? this.template : this.toolTemplate;
  }

  private renderOnce(prompt: ChatPrompt, disarm: Disarm, style: CallStyle): string {
    const { messages, tools = [], thinking } = prompt;
    const rendered = this.templateFor(prompt).render({
      ...this.tokenVariables,
      messages: messages.map((message) => messageVariables(message, disarm, style)),
      tools: tools.length === 0 ? null : tools.map((tool) => toolVariables(tool, disarm)),
      documents: null,
      add_generation_prompt: true,
      ...(thinking === undefined ? {} : { enable_thinking: thinking }),
    });
    return restoreNumbers(rendered);
  }
}

function parsed(source: string, name: string): BoundedTemplate {
  try {
    return new BoundedTemplate(source);
  } catch (error) {
    throw invalid(name, error);
  }
}

function invalid(name: string, error: unknown): EngineError {
  return new EngineError('checkpoint_invalid', `${name}: ${reasonOf(error)}`, { cause: error });
}

/** Gives `null` if the conversation does not begin with a system message and a user's message. */
function withoutSystemMessage(prompt: ChatPrompt): ChatPrompt | null {
  const [system, user, ...others] = prompt.messages;
  if (system?.role !== 'system' || user?.role !== 'user') return null;
  return { ...prompt, messages: [{ ...user, content: `${system.content}\n\n${user.content}` }, ...others] };
}

function messageVariables(message: ChatMessage, disarm: Disarm, style: CallStyle): Record<string, unknown> {
  const markup = message.markup ?? (message.role === 'assistant' || message.role === 'system');
  const variables: Record<string, unknown> = { role: message.role, content: disarm(message.content, { markup }) };
  if (message.name !== undefined) variables['name'] = disarm(message.name, { markup: false });
  if (message.toolCallId !== undefined) variables['tool_call_id'] = disarm(message.toolCallId, { markup: false });
  if (message.toolCalls !== undefined && message.toolCalls.length > 0) {
    if (style.noneForEmpty && message.content === '') variables['content'] = null;
    variables['tool_calls'] = message.toolCalls.map((call) => ({
      id: disarm(call.id, { markup: false }),
      type: 'function',
      function: {
        name: disarm(call.name, { markup: false }),
        arguments: disarmDeep(style.textArguments ? call.arguments : parsedArguments(call.arguments), (text) =>
          disarm(text, { markup: false }),
        ),
      },
    }));
  }
  return variables;
}

function toolVariables(tool: ToolDefinition, disarm: Disarm): unknown {
  const { name, description, parameters } = tool;
  const definition = { name, ...(description === undefined ? {} : { description }), parameters };
  return disarmDeep({ type: 'function', function: definition }, (text) => disarm(text, { markup: true }));
}

/** Most templates expect the arguments as a value, not as its text. */
function parsedArguments(text: string): unknown {
  try {
    return parseWithExactNumbers(text);
  } catch {
    return text;
  }
}

function disarmDeep(value: unknown, disarm: (text: string) => string): unknown {
  if (typeof value === 'string') return disarm(value);
  if (Array.isArray(value)) return value.map((item) => disarmDeep(item, disarm));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [disarm(key), disarmDeep(item, disarm)]));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 300) : 'unknown';
}
