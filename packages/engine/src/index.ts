export * from './engine.js';
export * from './types.js';
export { adapterFiles, hashAdapterFolder, isAdapterIntact } from './adapters/contentHash.js';
export { readTrainedOn, type TrainedOn } from './adapters/trainedOn.js';
export { optionalFiles, requiredFiles, shardIndexFile, singleWeightsFile } from './checkpoint/checkpointFiles.js';
export { readContextLength } from './checkpoint/contextLength.js';
export { loadFittingTokenizer, outlineCheckpoint, type CheckpointOutline } from './checkpoint/outline.js';
export { trainingStepBytes } from './checkpoint/stepBytes.js';
export { findWeightFiles } from './checkpoint/weightFiles.js';
export { EmbeddedEngine, type EmbeddedEngineOptions } from './embeddedEngine.js';
export type { WrittenTokens } from './front/frontMethods.js';
export { ModelFront } from './front/modelFront.js';
export type { PlainBatch, PlainRun, RunBounds, TrainingSettings, TrainingStart } from './lora/trainingElsewhere.js';
export { openTrainingHost, startEngineHost } from './process/engineHost.js';
export type {
  EngineExit,
  EngineStart,
  EngineHost,
  EngineHostOptions,
  EngineLogger,
  ServingEngine,
  TrainingHost,
} from './process/hostTypes.js';
export { parseToolCalls } from './output/toolCalls.js';
export type { PreparedGeneration } from './scheduling/preparedGeneration.js';
export type { WatchBounds } from './process/watch.js';
export { machineMemory } from './support/machineMemory.js';
export { weightFormats, type WeightFormat } from './model/quantization.js';
export { ChatTokenizer } from './tokenizer/chatTokenizer.js';
export { PromptCounter } from './tokenizer/promptCounter.js';
export {
  importFolder,
  importGguf,
  type ImportedModel,
  type ImportOptions,
  type ImportProgress,
} from './gguf/importGguf.js';
export type { ImportPrecision } from './gguf/writeWeights.js';
