import type { Registry } from 'prom-client';
import { engraftVersion } from '../engraftVersion.js';
import { newRegistry } from '../metrics/exposition.js';
import { watchPool } from '../metrics/poolMetrics.js';
import { watchProcess } from '../metrics/processMetrics.js';
import { watchQueue } from '../metrics/queueMetrics.js';
import { watchEngine } from './engineMetrics.js';
import type { Installation } from './installation.js';
import { countDroppedLines } from './logger.js';
import type { LogOutput } from './logOutput.js';
import type { ModelState } from './modelState.js';

/** The metrics of every process of a service, whatever it runs. */
export function openMetrics(installation: Installation, model: ModelState, output: LogOutput): Registry {
  const metrics = newRegistry();
  watchProcess(engraftVersion, metrics);
  watchPool(installation.connections, metrics);
  watchQueue(installation.watching, metrics);
  countDroppedLines(metrics, output);
  if (model.kind === 'loaded' && model.engine !== null) watchEngine(model.engine.engine, metrics);
  return metrics;
}
