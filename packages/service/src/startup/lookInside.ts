import type { Config } from '../config/config.js';
import type { Examined, ExaminedDatabase } from '../doctor/examine.js';
import type { ModelOfProcess } from '../http/console/modelRoutes.js';
import { openModelInUse } from '../models/modelInUse.js';
import type { ModelState } from './modelState.js';
import type { Roles } from './runService.js';

/** The parts of a running process, as people look at them. */

export function modelInUseOf(config: Config, model: ModelState): ModelOfProcess {
  switch (model.kind) {
    case 'loaded':
      return { kind: 'in_use', model: openModelInUse(config, model) };
    case 'missing':
      return { kind: 'none', reason: model.reason };
    case 'off':
      return { kind: 'none', reason: 'model work is switched off on this service' };
  }
}

/** The parts that `engraft doctor` opens for itself are open here. */
export function examinedOf({
  config,
  roles,
  installation,
  model,
}: {
  readonly config: Config;
  readonly roles: Pick<Roles, 'worker'>;
  readonly installation: ExaminedDatabase;
  readonly model: ModelState;
}): Examined {
  return {
    config,
    hasArchives: roles.worker,
    withDatabase: (examine) => examine(installation),
    contextLength: () => Promise.resolve(loaded(model).meter.contextLength),
    withEngine: async (examine) => {
      const { engine } = loaded(model);
      return engine === null ? null : examine(engine);
    },
  };
}

function loaded(model: ModelState): Extract<ModelState, { readonly kind: 'loaded' }> {
  if (model.kind === 'loaded') return model;
  throw new Error(model.kind === 'missing' ? model.reason : 'model work is switched off');
}
