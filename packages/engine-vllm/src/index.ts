export { openVllmEngine, type VllmEngineOptions } from './vllmEngine.js';
