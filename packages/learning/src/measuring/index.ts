export { addTallies, noTally, shareOf, sharesOf, type Shares, type Tally } from './asking.js';
export { barChart, type BarChart, type BarSeries } from './barChart.js';
export { addLosses, canaryKinds, pointsLost, type CanaryKind, type CanaryLoss, type CanaryReport } from './canaries.js';
export {
  measurePassages,
  type MeasuringOptions,
  type MeasuringPhase,
  type MeasuringProgress,
  type PassageReport,
  type Retention,
} from './measurePassages.js';
export { parsePassageFile } from './passageFile.js';
export { parsePassageSet, type PassageEntry, type PassageQuestion, type PassageSet } from './passageSet.js';
export { squadPassages } from './squadPassages.js';
export { summarise, type MeasuringSummary } from './summary.js';
export { spreadSample } from '../random.js';
