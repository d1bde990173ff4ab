/** Makes the tokenizer's files from a GGUF file's metadata. */
import type { JsonFields, JsonObject } from '../checkpoint/jsonFields.js';
import { byteLevelModel } from './byteLevelModel.js';
import { sentencePieceModel } from './sentencePieceModel.js';
import { addedTokens, type GgufVocabulary } from './vocabulary.js';

const modelField = 'tokenizer.ggml.model';
const templateField = 'tokenizer.chat_template';
const templateFile = 'chat_template.jinja';

/**
 * Contents by file name: `tokenizer.json`, `tokenizer_config.json`, `generation_config.json`, `chat_template.jinja` and
 * perhaps a template for prompts with tools.
 * @param contextLength in tokens.
 * @param chatTemplate replaces the templates of the file.
 * @throws EngineError `checkpoint_invalid` naming the field.
 */
export function ggufTokenizerFiles(
  metadata: JsonFields,
  vocabulary: GgufVocabulary,
  contextLength: number,
  chatTemplate?: string,
): Readonly<Record<string, string>> {
  const { tokens, ids, named } = vocabulary;
  const kind = metadata.string(modelField);
  if (kind !== 'gpt2' && kind !== 'llama') throw metadata.refusal(modelField, '"gpt2" or "llama"');
  if (ids.eos.length === 0) {
    throw metadata.refusal('tokenizer.ggml.eos_token_id', 'the id of the token that ends a text');
  }
  // SentencePiece adds one by default.
  const addsBos = metadata.boolean('tokenizer.ggml.add_bos_token', kind === 'llama');
  const addsEos = metadata.boolean('tokenizer.ggml.add_eos_token', false);
  const model =
    kind === 'gpt2' ? byteLevelModel(metadata, tokens) : sentencePieceModel(metadata, tokens, named['unk_token']);
  const tokenizerJson = {
    ...{ version: '1.0', truncation: null, padding: null },
    added_tokens: addedTokens(tokens),
    ...model,
    post_processor: addsBos && ids.bos !== undefined ? beginning(named['bos_token'] ?? '', ids.bos) : null,
  };
  const tokenizerConfig = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    ...named,
    ...{ add_bos_token: addsBos, add_eos_token: addsEos, clean_up_tokenization_spaces: false },
    model_max_length: contextLength,
  };
  const [first, ...more] = ids.eos;
  const generationConfig = {
    bos_token_id: ids.bos,
    eos_token_id: more.length === 0 ? first : ids.eos,
    pad_token_id: ids.pad,
  };
  return {
    'tokenizer.json': json(tokenizerJson),
    'tokenizer_config.json': json(tokenizerConfig),
    'generation_config.json': json(generationConfig),
    ...(chatTemplate === undefined ? templateFiles(metadata) : { [templateFile]: chatTemplate }),
  };
}

export function json(value: JsonObject): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The post-processor that puts a token before a text. In conversations the template does that. */
function beginning(token: string, id: number): JsonObject {
  const special = (type: number): JsonObject => ({ SpecialToken: { id: token, type_id: type } });
  const text = (name: string, type: number): JsonObject => ({ Sequence: { id: name, type_id: type } });
  return {
    type: 'TemplateProcessing',
    single: [special(0), text('A', 0)],
    pair: [special(0), text('A', 0), special(1), text('B', 1)],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}

function templateFiles(metadata: JsonFields): Readonly<Record<string, string>> {
  if (!metadata.has(templateField)) {
    throw metadata.refusal(templateField, "the model's chat template, unless another one is given");
  }
  const toolUse = `${templateField}.tool_use`;
  return {
    [templateFile]: metadata.string(templateField),
    ...(metadata.has(toolUse) ? { 'additional_chat_templates/tool_use.jinja': metadata.string(toolUse) } : {}),
  };
}
