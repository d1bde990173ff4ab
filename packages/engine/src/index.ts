export * from './engine.js';
export * from './types.js';
export { hashAdapterFolder } from './adapters/contentHash.js';
export { readContextLength } from './checkpoint/contextLength.js';
export { EmbeddedEngine, type EmbeddedEngineOptions } from './embeddedEngine.js';
export { startEngineHost } from './process/engineHost.js';
export type { EngineExit, EngineHost, EngineHostOptions, EngineLogger } from './process/hostTypes.js';
export { WEIGHT_FORMATS, type WeightFormat } from './model/quantization.js';
export { ChatTokenizer } from './tokenizer/chatTokenizer.js';
