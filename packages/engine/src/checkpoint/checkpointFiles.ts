/** The files of a checkpoint folder that the engine reads, for code that fetches a checkpoint from elsewhere. */

/** Files that every checkpoint has. */
export const requiredFiles = ['config.json', 'tokenizer.json'] as const;

/** Files that the engine reads if they exist. */
export const optionalFiles = [
  'generation_config.json',
  'tokenizer_config.json',
  'added_tokens.json',
  'chat_template.jinja',
  'additional_chat_templates/tool_use.jinja',
  'chat_template.json',
] as const;

/** The weights, if they are not in shards. */
export const singleFile = 'model.safetensors';

/** Names the shards, see `findWeightFiles`. Not read if there is a single file. */
export const shardIndex = 'model.safetensors.index.json';
