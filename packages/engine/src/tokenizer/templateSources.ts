/** Finds a checkpoint's chat templates and decides which of them are used. */
import { join } from 'node:path';
import { JsonFields, isJsonObject, readOptionalText } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';

export interface TemplateSources {
  readonly default: string;
  /** Replaces `default` when there are tools. */
  readonly toolUse?: string;
}

const templateFile = 'chat_template.jinja';
const toolUseFile = 'additional_chat_templates/tool_use.jinja';
/** Older releases of `transformers` wrote it, for processors. */
const oldFile = 'chat_template.json';
/** Checkpoints have two or three. */
const maxTemplates = 16;

/**
 * Reads `chat_template.jinja`, or else the field of that name in `tokenizer_config.json`, or else in
 * `chat_template.json`. The template for tools has a file of its own or stands beside the other in the field. If
 * `chat_template.jinja` exists, `transformers` reads no field.
 * @throws EngineError `checkpoint_invalid` naming the file and the field.
 */
export async function readTemplateSources(modelDir: string, tokenizerConfig: JsonFields): Promise<TemplateSources> {
  const [source, toolUse] = await Promise.all(
    [templateFile, toolUseFile].map((file) => readOptionalText(join(modelDir, file), file)),
  );
  const sources = source === undefined ? await readField(modelDir, tokenizerConfig) : { default: source };
  return toolUse === undefined ? sources : { ...sources, toolUse };
}

async function readField(modelDir: string, tokenizerConfig: JsonFields): Promise<TemplateSources> {
  if (tokenizerConfig.has('chat_template')) return fromField(tokenizerConfig);
  const old = await JsonFields.readOptional(join(modelDir, oldFile), oldFile);
  if (old !== undefined) return fromField(old);
  throw new EngineError(
    'checkpoint_invalid',
    `${templateFile} is missing, and tokenizer_config.json has no chat_template`,
  );
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

/** Only callers of `transformers` choose templates of other names. */
function fromNamed(config: JsonFields, named: readonly (readonly [string, unknown])[]): TemplateSources {
  if (named.length > maxTemplates) {
    throw config.refusal('chat_template', `a list of at most ${maxTemplates} templates`);
  }
  const templates = new JsonFields(`${config.source}: chat_template`, Object.fromEntries(named));
  if (!templates.has('default')) {
    throw config.refusal('chat_template', 'a string or a list with a template named "default"');
  }
  const source = templates.string('default');
  return templates.has('tool_use') ? { default: source, toolUse: templates.string('tool_use') } : { default: source };
}
