import type { Span } from '@opentelemetry/api';
import type { ErrorCode, Scope } from '@engraft/contract';
import type { Member, MemberAction } from '../console/members.js';
import type { AuthenticatedKey } from '../keys/authenticate.js';

/** Facts that the hooks learn about a request, for the routes and the log. */
export interface RequestState {
  /** Set on every authenticated request. */
  key: AuthenticatedKey | null;
  /** Set on every request of a console's session. */
  session: { readonly member: Member; readonly token: string } | null;
  /** The bytes of the body, within the limit. `null` on requests without one. */
  body: Buffer | null;
  error_code: ErrorCode | null;
  /** The caller gave no idempotency key, so a repetition would be another operation. */
  repeatsAsNew: boolean;
  /** Set on every authenticated request. It goes nowhere if no traces are taken. */
  span: Span | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** See `requestState.ts`. */
    state: RequestState;
  }
  interface FastifyContextConfig {
    /** The key needs one of these. Empty if any valid key will do. Required on every route under `/v1`. */
    anyScopeOf?: readonly Scope[];
    /**
     * Who may use a route of the console: anybody, anybody who is signed in, operators, or members who may do this in
     * the project of the path. Required on every route under `/console/api`.
     */
    console?: 'anybody' | 'signed_in' | 'operate' | MemberAction;
  }
}

export function newRequestState(): RequestState {
  return { key: null, session: null, body: null, error_code: null, repeatsAsNew: false, span: null };
}
