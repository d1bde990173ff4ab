import { readRequest } from '@engraft/contract';
import {
  estimateRequest,
  type ConsoleEstimate,
  type ConsoleFindings,
  type ConsoleModel,
  type ConsoleSpeeds,
} from '@engraft/contract/console';
import type { FastifyInstance } from 'fastify';
import type { Finding } from '../../doctor/examine.js';
import type { ModelInUse } from '../../models/modelInUse.js';
import { readJsonBody, refuseQueryParameters } from '../readBody.js';

export type ModelOfProcess =
  { readonly kind: 'in_use'; readonly model: ModelInUse } | { readonly kind: 'none'; readonly reason: string };

export interface ModelContext {
  readonly model_id: string;
  readonly modelInUse: ModelOfProcess;
  /** Examines the installation, as `engraft doctor` does. */
  readonly examine: () => Promise<readonly Finding[]>;
}

const signedIn = { config: { console: 'signed_in' } } as const;

/** The model in use, what learning a passage would take, and what is wrong with the installation. */
export function modelRoutes(api: FastifyInstance, { model_id, modelInUse, examine }: ModelContext): void {
  api.get('/model', signedIn, async (request): Promise<ConsoleModel> => {
    refuseQueryParameters(request);
    if (modelInUse.kind === 'none') return { model_id, model: null, missing: modelInUse.reason };
    return { model_id, model: await modelInUse.model.describe(), missing: null };
  });

  api.get('/model/speeds', signedIn, async (request): Promise<ConsoleSpeeds> => {
    refuseQueryParameters(request);
    return { speeds: modelInUse.kind === 'none' ? null : await modelInUse.model.speeds() };
  });

  api.post(
    '/projects/:project/estimates',
    { config: { console: 'learn' } },
    async (request): Promise<ConsoleEstimate> => {
      refuseQueryParameters(request);
      const { content } = readJsonBody(request, (body) => readRequest(estimateRequest, body));
      return { estimate: modelInUse.kind === 'none' ? null : await modelInUse.model.estimate(content) };
    },
  );

  // It says where things lie on the machine, and asks a teacher elsewhere, who may charge for it.
  api.post('/examinations', { config: { console: 'operate' } }, async (request): Promise<ConsoleFindings> => {
    refuseQueryParameters(request);
    return { findings: (await examine()).map(({ name, ok, detail }) => ({ name, ok, detail })) };
  });
}
