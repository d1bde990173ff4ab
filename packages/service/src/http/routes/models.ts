import { currentPriceCard, pricingOf, type ModelCatalogue } from '@engraft/contract';
import type { FastifyInstance } from 'fastify';
import { refuseQueryParameters } from '../readBody.js';

/** `GET /v1/models`: "Any valid key, no scope; starts no work and reserves nothing." */
export function modelsRoute(api: FastifyInstance, { model_id }: { readonly model_id: string }): void {
  api.get('/models', { config: { anyScopeOf: [] } }, (request, reply): void => {
    refuseQueryParameters(request);
    const catalogue: ModelCatalogue = { data: [{ id: model_id, pricing: pricingOf(currentPriceCard) }] };
    void reply.send(catalogue);
  });
}
