export * from './types.js';
export { learnPassage } from './learnPassage.js';
export { replayOf } from './ownReplay.js';
export { loadReplay } from './replay.js';
export * from './measuring/index.js';
