import { ApiError } from '@engraft/contract';
import type { FastifyInstance } from 'fastify';
import type { TurnContext } from '../../admission/admitInTurn.js';
import type { Payments } from '../../payments/payments.js';
import type { StrangerLimits } from '../limitStrangers.js';
import { readBodyBytes } from '../readBody.js';
import { accountRoutes } from './accountRoutes.js';
import { creditRoutes } from './creditRoutes.js';
import { refuseOtherSites, requireRole, requireSession } from './guardRequests.js';
import { createSignInLimits } from './limitSignIns.js';
import { memberRoutes } from './memberRoutes.js';
import { modelRoutes, type ModelContext } from './modelRoutes.js';
import { operatorRoutes } from './operatorRoutes.js';
import { projectRoutes } from './projectRoutes.js';
import { purchaseRoutes, stripeWebhook } from './purchaseRoutes.js';
import { settingsRoutes } from './settingsRoutes.js';
import { workRoutes } from './workRoutes.js';

export interface ConsoleOptions extends TurnContext, ModelContext {
  readonly strangers: StrangerLimits;
  /** `null` if no credit is sold. */
  readonly payments: Payments | null;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly isClosing: () => boolean;
}

/**
 * The console's own interface under `/console/api`, with credentials of its own: of an `Authorization` header it takes
 * no notice. Checks run in this order: another site's page → session → project and role → body size → syntax and
 * schema.
 */
export function consoleApi(app: FastifyInstance, options: ConsoleOptions): void {
  const { db, strangers, payments, nowMs } = options;
  const signIns = createSignInLimits(nowMs);
  if (payments !== null) stripeWebhook(app, options, payments);
  app.register(
    (api, _options, registered) => {
      api.addHook('onRequest', async (request, reply) => {
        if (options.isClosing()) throw new ApiError('service_unavailable');
        void reply.headers({
          'cache-control': 'no-store',
          'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
          'x-content-type-options': 'nosniff',
        });
        refuseOtherSites(request);
        await requireSession(db, strangers, request, reply);
        await requireRole(db, request);
      });
      api.addHook('preParsing', async (request, _reply, payload) => {
        if (request.method === 'POST') request.state.body = await readBodyBytes(payload);
        return payload;
      });
      accountRoutes(api, { ...options, signIns });
      projectRoutes(api, options);
      creditRoutes(api, options);
      if (payments !== null) purchaseRoutes(api, payments);
      settingsRoutes(api, options);
      memberRoutes(api, options);
      modelRoutes(api, options);
      operatorRoutes(api, options);
      workRoutes(api, options);
      registered();
    },
    { prefix: '/console/api' },
  );
}
