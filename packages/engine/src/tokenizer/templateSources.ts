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
 * Reads `chat_template.jinja` and what stands beside it, or else the field of that name in `tokenizer_config.json`: as in
 * `transformers`, templates in files take the place of all that are there. Where there are none, `chat_template.json` will do.
 * @throws EngineError `checkpoint_invalid` naming the file and the field.
 */
export async function readTemplateSources(modelDir: string, tokenizerConfig: JsonFields): Promise<TemplateSources> {
  const source = await readOptionalText(join(modelDir, TEMPLATE_FILE), TEMPLATE_FILE);
  if (source !== undefined) {
    const toolUse = await readOptionalText(join(modelDir, TOOL_USE_FILE), TOOL_USE_FILE);
    return { default: source, ...(toolUse === undefined ? {} : { toolUse }) };
  }
  if (tokenizerConfig.has('chat_template')) return fromField(tokenizerConfig);
  const old = await JsonFields.readOptional(join(modelDir, OLD_FILE), OLD_FILE);
  if (old !== undefined) return fromField(old);
  throw new EngineError('checkpoint_invalid', `${TEMPLATE_FILE} is missing, and tokenizer_config.json has none`);
}

function fromField(config: JsonFields): TemplateSources {
  const field = config.value('chat_template');
  if (typeof field === 'string') return { default: field };
  if (Array.isArray(field)) return fromList(field, config);
  throw config.refusal('chat_template', 'a string or a list of named templates');
}

/** Templates of other names are chosen by callers of `transformers` alone. */
function fromList(list: readonly unknown[], config: JsonFields): TemplateSources {
  if (list.length > MAX_TEMPLATES) {
    throw config.refusal('chat_template', `a list of at most ${MAX_TEMPLATES} templates`);
  }
  const named = new Map<string, string>();
  for (const [index, entry] of list.entries()) {
    const place = `${config.source}: chat_template[${index}]`;
    if (!isJsonObject(entry)) throw new EngineError('checkpoint_invalid', `${place} must be an object`);
    const fields = new JsonFields(place, entry);
    named.set(fields.string('name'), fields.string('template'));
  }
  const source = named.get('default');
  const toolUse = named.get('tool_use');
  if (source === undefined) {
    throw config.refusal('chat_template', 'a string or a list with a template named "default"');
  }
  return { default: source, ...(toolUse === undefined ? {} : { toolUse }) };
}
