/** Where a checkpoint keeps its chat templates, and which of them are used. */
import { join } from 'node:path';
import { JsonFields, isJsonObject, readOptionalText } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';

export interface TemplateSources {
  readonly default: string;
  /** Takes the place of `default` where there are tools. */
  readonly toolUse?: string;
}

const TEMPLATE_FILE = 'chat_template.jinja';
const TOOL_USE_FILE = 'additional_chat_templates/tool_use.jinja';
/** Older releases of `transformers` wrote it, for processors. */
const OLD_FILE = 'chat_template.json';
/** Checkpoints have two or three. */
const MAX_TEMPLATES = 16;

/**
 * Reads `chat_template.jinja`, or else the field of that name in `tokenizer_config.json`, or else in
 * `chat_template.json`. The template for tools has a file of its own or stands beside the other in the field; where
 * `chat_template.jinja` is there, `transformers` reads no field.
 * @throws EngineError `checkpoint_invalid` naming the file and the field.
 */
export async function readTemplateSources(modelDir: string, tokenizerConfig: JsonFields): Promise<TemplateSources> {
  const [source, toolUse] = await Promise.all(
    [TEMPLATE_FILE, TOOL_USE_FILE].map((file) => readOptionalText(join(modelDir, file), file)),
  );
  const sources = source === undefined ? await readField(modelDir, tokenizerConfig) : { default: source };
  return toolUse === undefined ? sources : { ...sources, toolUse };
}

async function readField(modelDir: string, tokenizerConfig: JsonFields): Promise<TemplateSources> {
  if (tokenizerConfig.has('chat_template')) return fromField(tokenizerConfig);
  const old = await JsonFields.readOptional(join(modelDir, OLD_FILE), OLD_FILE);
  if (old !== undefined) return fromField(old);
  throw new EngineError('checkpoint_invalid', `${TEMPLATE_FILE} is missing, and tokenizer_config.json has none`);
}

function fromField(config: JsonFields): TemplateSources {
  const field = config.value('chat_template');
  if (typeof field === 'string') return { default: field };
  if (Array.isArray(field)) return fromNamed(config, namedInList(field, config));
  if (isJsonObject(field)) return fromNamed(config, Object.entries(field));
  throw config.refusal('chat_template', 'a string or a list of named templates');
}

function namedInList(list: readonly unknown[], config: JsonFields): readonly (readonly [string, unknown])[] {
  return list.map((entry, index) => {
    const place = `${config.source}: chat_template[${index}]`;
    if (!isJsonObject(entry)) throw new EngineError('checkpoint_invalid', `${place} must be an object`);
    const fields = new JsonFields(place, entry);
    return [fields.string('name'), fields.string('template')];
  });
}

/** Templates of other names are chosen by callers of `transformers` alone. */
function fromNamed(config: JsonFields, named: readonly (readonly [string, unknown])[]): TemplateSources {
  if (named.length > MAX_TEMPLATES) {
    throw config.refusal('chat_template', `a list of at most ${MAX_TEMPLATES} templates`);
  }
  const templates = new JsonFields(`${config.source}: chat_template`, Object.fromEntries(named));
  if (!templates.has('default')) {
    throw config.refusal('chat_template', 'a string or a list with a template named "default"');
  }
  const source = templates.string('default');
  return templates.has('tool_use') ? { default: source, toolUse: templates.string('tool_use') } : { default: source };
}
