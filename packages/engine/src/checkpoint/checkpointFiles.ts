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

/** The only weight file of a checkpoint without shards. */
export const singleWeightsFile = 'model.safetensors';

/** Names the shards, see `findWeightFiles`. Not read if there is a single file. */
export const shardIndexFile = 'model.safetensors.index.json';
