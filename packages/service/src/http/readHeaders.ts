import { idempotencyKeyPattern, identifierPattern, type TenantId } from '@engraft/contract';
import type { FastifyRequest } from 'fastify';
import { resolveTenant } from '../tenants/resolveTenant.js';
import { keyOf } from './authenticateRequest.js';
import { invalid } from './readBody.js';

/** The required header `Idempotency-Key` of the native model writes. */
export function requiredIdempotencyKey(request: FastifyRequest): string {
  const header = request.headers['idempotency-key'];
  if (header === undefined) throw invalid('Idempotency-Key', 'this header is required');
  if (typeof header !== 'string' || !idempotencyKeyPattern.test(header)) {
    throw invalid('Idempotency-Key', '8-128 letters, digits and _ . : - , starting with a letter or digit');
  }
  return header;
}

/** The optional header `X-Service-Tenant`. */
export function tenantHeader(request: FastifyRequest): string | undefined {
  const header = request.headers['x-service-tenant'];
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !identifierPattern.test(header)) {
    throw invalid('X-Service-Tenant', '1-128 letters, digits and _ . : - , starting with a letter or digit');
  }
  return header;
}

/** The tenant that key, header and body agree on; 422 if they do not. */
export function selectedTenant(request: FastifyRequest, body_tenant_id?: string): TenantId {
  const outcome = resolveTenant({
    key_tenant_id: keyOf(request).tenant_id,
    header: tenantHeader(request),
    body: body_tenant_id,
  });
  const param = body_tenant_id === undefined ? 'X-Service-Tenant' : 'tenant_id';
  if (outcome.kind === 'disagreement') throw invalid(param, 'header X-Service-Tenant names another tenant');
  if (outcome.kind === 'foreign_tenant') throw invalid(param, 'the API key is restricted to another tenant');
  return outcome.tenant_id;
}
