export * from './types.js';
export { learnPassage } from './learnPassage.js';
export { openReplay, ownReplay } from './ownReplay.js';
export { loadReplay } from './replay.js';
export * from './measuring/index.js';
