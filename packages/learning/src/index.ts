export * from './types.js';
export { learnPassage } from './learnPassage.js';
export { replayOf } from './training/ownReplay.js';
export { loadReplay } from './training/replay.js';
export * from './measuring/index.js';
export { parseParagraphs, type Paragraph, type ParagraphQuestion, type ParagraphSet } from './squad/paragraphs.js';
export * from './teacherTraining/index.js';
export { spreadSample } from './random.js';
