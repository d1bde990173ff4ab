export * from './types.js';
export { learnPassage } from './learnPassage.js';
