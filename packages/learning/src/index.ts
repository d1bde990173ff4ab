export * from './types.js';
export { learnPassage } from './learnPassage.js';
export { replayOf } from './training/ownReplay.js';
export { loadReplay } from './training/replay.js';
export * from './measuring/index.js';
