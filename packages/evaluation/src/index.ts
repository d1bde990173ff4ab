export {
  addTallies,
  ask,
  isRight,
  noTally,
  shareOf,
  sharesOf,
  type AskedPhrasing,
  type Shares,
  type Tally,
} from './measuring/asking.js';
export { barChart, type BarChart, type BarSeries } from './measuring/barChart.js';
export {
  addLosses,
  canaryKinds,
  pointsLost,
  type CanaryKind,
  type CanaryLoss,
  type CanaryReport,
} from './measuring/canaries.js';
export {
  measurePassages,
  phrasingsOf,
  type MeasuringOptions,
  type MeasuringPhase,
  type MeasuringProgress,
} from './measuring/measurePassages.js';
export type { PassageReport, Retention } from './measuring/passageReport.js';
export { parsePassageFile } from './measuring/passageFile.js';
export { parsePassageSet, type PassageEntry, type PassageQuestion, type PassageSet } from './measuring/passageSet.js';
export { squadPassages } from './measuring/squadPassages.js';
export { bestReading, summarise, type MeasuringSummary } from './measuring/summary.js';
export { measureReading, type ReadingFigures } from './teacherTraining/measureTeacher.js';
export { splitByTitle, type ParagraphSplit } from './teacherTraining/split.js';
export { trainTeacher, type TeacherProgress, type TeacherTraining } from './teacherTraining/trainTeacher.js';
export { parseParagraphs, type Paragraph, type ParagraphQuestion, type ParagraphSet } from './squad/paragraphs.js';
