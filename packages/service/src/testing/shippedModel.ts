import { tmpdir } from 'node:os';
import path from 'node:path';
import { readConfig } from '../config/config.js';
import { examine } from '../doctor/examine.js';
import type { AppOptions } from '../http/buildApp.js';
import { modelInUseOf } from '../startup/lookInside.js';
import { countUnits } from './testApp.js';

/** The console's view of the shipped model in a process that has no engine, and no database to examine. */
export function showShippedModel(): Required<Pick<AppOptions, 'modelInUse' | 'examine'>> {
  const config = readConfig({ data: path.join(tmpdir(), 'engraft-that-is-not-there') }, {});
  const model = { kind: 'loaded', meter: { countTokens: countUnits, contextLength: 4_096 }, engine: null } as const;
  return {
    modelInUse: modelInUseOf(config, model),
    examine: () =>
      examine({
        // Pictures of it are the same on every machine.
        config: { ...config, modelFolder: '/opt/engraft/models/base' },
        hasArchives: false,
        withDatabase: () => Promise.resolve(null),
        contextLength: () => Promise.resolve(model.meter.contextLength),
        withEngine: () => Promise.resolve(null),
      }),
  };
}
