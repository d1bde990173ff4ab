import { randomUUID } from 'node:crypto';
import { idempotencyKeyPattern, identifierPattern, type TenantId } from '@engraft/contract';
import type { FastifyRequest } from 'fastify';
import { resolveTenant } from '../tenants/resolveTenant.js';
import { keyOf } from './authenticateRequest.js';
import { invalid } from './readBody.js';

/** The required header `Idempotency-Key` of the native model writes. */
export function requiredIdempotencyKey(request: FastifyRequest): string {
  const header = idempotencyKeyHeader(request);
  if (header === undefined) throw invalid('Idempotency-Key', 'this header is required');
  return header;
}

/** "If `Idempotency-Key` is omitted the gateway generates one and returns it in the header." */
export function givenOrNewIdempotencyKey(request: FastifyRequest): string {
  const given = idempotencyKeyHeader(request);
  request.state.repeatsAsNew = given === undefined;
  return given ?? randomUUID();
}

function idempotencyKeyHeader(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !idempotencyKeyPattern.test(header)) {
    throw invalid('Idempotency-Key', '8-128 letters, digits and _ . : - , starting with a letter or digit');
  }
  return header;
}

/** The optional header `X-Service-Tenant`. */
export function tenantHeader(request: FastifyRequest): string | undefined {
  return identifierHeader(request, 'X-Service-Tenant');
}

function identifierHeader(request: FastifyRequest, name: string): string | undefined {
  const header = request.headers[name.toLowerCase()];
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !identifierPattern.test(header)) {
    throw invalid(name, '1-128 letters, digits and _ . : - , starting with a letter or digit');
  }
  return header;
}

/**
 * The subject of a chat completion, from `subject_id` or `X-Service-Subject` ("must equal `subject_id` when both are
 * given"). `null` if there is none, which selects base.
 */
export function selectedSubject(request: FastifyRequest, bodySubjectId: string | undefined): string | null {
  const header = identifierHeader(request, 'X-Service-Subject');
  if (header !== undefined && bodySubjectId !== undefined && header !== bodySubjectId) {
    throw invalid('subject_id', 'header X-Service-Subject names another subject');
  }
  return bodySubjectId ?? header ?? null;
}

/** The tenant on which key, header and body agree. 422 if they do not. */
export function selectedTenant(request: FastifyRequest, bodyTenantId?: string): TenantId {
  const outcome = resolveTenant({
    keyTenantId: keyOf(request).tenant_id,
    header: tenantHeader(request),
    body: bodyTenantId,
  });
  const param = bodyTenantId === undefined ? 'X-Service-Tenant' : 'tenant_id';
  if (outcome.kind === 'disagreement') throw invalid(param, 'header X-Service-Tenant names another tenant');
  if (outcome.kind === 'foreign_tenant') throw invalid(param, 'the API key is restricted to another tenant');
  return outcome.tenant_id;
}
