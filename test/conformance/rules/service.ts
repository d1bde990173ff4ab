import { section, type Rule } from './rule.js';

/** Rules of the whole service. */
export const serviceRules: readonly Rule[] = [
  ...section('What the service does', 'service', [
    '`POST /v1/inferences` and `POST /v1/internalizations` admit a job and return a receipt; the outcome is read from the job.',
    '`POST /v1/chat/completions` waits for the same kind of job and returns its result synchronously (or as buffered SSE).',
    'Source knowledge is never injected into later inference requests.',
    'An inference uses only the messages the caller sends plus the selected adapter.',
    '**subject** (caller-named; created by the first admitted model operation for it)',
    'Amounts of money are in micro-USD (1,000,000 micro-USD = 1 USD).',
    'Model operations do not accept a model selector except that chat completions requires `model` to equal `model-5.3`.',
    'Not offered publicly: creating keys, buying credits, changing project settings, exporting weights, deleting/creating/renaming/merging subjects, resetting a subject to base, customer callback URLs, native streaming.',
    [
      'In the hosted preview, model work may be refused with error code `execution_unavailable` before any execution.',
      '"hosted preview: model work is switched off": 403 `execution_unavailable`; no engine: 503 `not_configured`',
    ],
  ]),
  ...section('Tenant scope', 'tenant', [
    'A tenant may be supplied as body field `tenant_id` and/or header `X-Service-Tenant`. When both are present they must match.',
    'A tenant-restricted key supplies its own tenant when none is given, and rejects a different tenant.',
    'An unrestricted key with no tenant uses the project namespace.',
    'The same tenant must be used for learning, inference, job reads and version changes.',
    'Knowledge from another tenant is never returned.',
  ]),
  ...section('Authentication', 'key', [
    'Every `/v1` request carries `Authorization: Bearer <API_KEY>`, a project API key.',
    'A browser/console session cookie is not a bearer credential.',
    'A key belongs to exactly one project (the key selects the project; no project ID is sent).',
    'A key belongs to exactly one project. It may optionally be restricted to one tenant. It is never restricted to one subject.',
    'A request carrying an `Origin` header is rejected with code `server_keys_only`.',
    [
      'Keys are created with a name, scopes and an expiry (30 days, 90 days, one year or none; 90 days preselected).',
      'manages keys',
    ],
    'The full secret is shown only once.',
    'At most 50 non-revoked keys exist per project (expired keys count until revoked).',
    'Revoking a key blocks later authenticated requests; already admitted jobs and their charges are unaffected.',
    [
      '`read` | read jobs and subjects in the selected tenant',
      'each endpoint takes a key with its scope alone, and no key with all the others',
    ],
    [
      '`inference` | submit inference (native and chat) and read its own jobs',
      'each endpoint takes a key with its scope alone, and no key with all the others',
    ],
    [
      '`internalize` | submit learning (including `activate: true`) and read its own jobs',
      'each endpoint takes a key with its scope alone, and no key with all the others',
    ],
    [
      '`adapters` | activate a retained adapter',
      'each endpoint takes a key with its scope alone, and no key with all the others',
    ],
    'Default key has only `inference`.',
    'An advanced management-only preset grants `read` and `adapters` with no inference or learning.',
    '`GET /v1/models` needs a valid key and no scope.',
    'Invalid, expired or revoked key: 401 `unauthorized`.',
    'Missing scope: 403 `insufficient_scope`.',
  ]),
  ...section('Events', 'events', [
    'The service sends no outbound events: no webhooks and no customer callback URLs.',
    'Job outcomes are obtained by polling `GET /v1/jobs/{id}`.',
    'The only push-style output is the buffered SSE of `POST /v1/chat/completions` with `stream: true`',
  ]),
  ...section('Versioning', 'versioning', [
    'The API is served under the path prefix `/v1`.',
    'The machine-readable description of the API declares version 1.0.0.',
    'Price cards are versioned: `pricing.version` in the catalogue; each job records `billing.pricing_version` fixed at admission.',
    'Adapter versions are identified by opaque version IDs; `revision` on a subject counts route changes.',
  ]),
];
