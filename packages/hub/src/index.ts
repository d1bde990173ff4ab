export { listCachedModels, findCachedModel, type CachedModel } from './cachedModels.js';
export { HubError, type HubErrorCode } from './hubError.js';
export type { RemoteFile } from './listing.js';
export type { TryLock } from './modelLock.js';
export { defaultRevision, parseModelName, writeModelName, type ModelName } from './modelName.js';
export {
  pullModel,
  type NextFiles,
  type PullOptions,
  type PullOutcome,
  type PullProgress,
  type PullStage,
} from './pullModel.js';
export { removeModel, type Removal } from './removeModel.js';
export { readHubSettings, type HubSettings } from './settings.js';
