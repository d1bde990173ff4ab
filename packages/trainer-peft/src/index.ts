export { openPeftTrainers, type PeftTrainers, type PeftTrainersOptions } from './peftTrainers.js';
