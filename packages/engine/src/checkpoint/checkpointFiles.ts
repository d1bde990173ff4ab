/** The files of a checkpoint folder that the engine reads, for whoever brings one from elsewhere. */

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

/** The weights, where they are not in shards. */
export const singleFile = 'model.safetensors';

/** Names the shards, see `findWeightFiles`. Not read where there is a single file. */
export const shardIndex = 'model.safetensors.index.json';
