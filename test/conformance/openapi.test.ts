import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  activationResult,
  errorTable,
  job,
  jobList,
  modelCatalogue,
  openApiDocument,
  receipt,
  subjectList,
  type OpenApiDocument,
  type Operation,
} from '@engraft/contract';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openConformanceService, type ConformanceService } from './service.js';

const file = fileURLToPath(new URL('../../../openapi.json', import.meta.url));
const document = JSON.parse(JSON.stringify(openApiDocument())) as OpenApiDocument;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

let service: ConformanceService;
before(async () => (service = await openConformanceService()));
after(() => service.close());

describe('the description of the API', () => {
  test('openapi.json is what the schemas say now; `npm run openapi` writes it', async () => {
    assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), document);
  });

  test('is valid OpenAPI 3.1', async () => {
    const outcome = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>);
    assert.deepEqual(outcome, { valid: true });
  });

  test('"The machine-readable description of the API declares version 1.0.0."', () => {
    assert.equal(document.info.version, '1.0.0');
  });

  test('has the eight endpoints, each with its scope, its key and its error statuses', () => {
    assert.deepEqual(
      operations.map(({ method, path, operation }) => [
        `${method} ${path}`,
        Object.keys(operation.responses).map(Number),
      ]),
      [
        ['POST /v1/internalizations', [200, 202, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503]],
        ['POST /v1/inferences', [200, 202, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503]],
        ['POST /v1/chat/completions', [200, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503]],
        ['GET /v1/jobs/{id}', [200, 401, 403, 404, 422, 429, 500, 503]],
        ['GET /v1/jobs', [200, 401, 403, 422, 429, 500, 503]],
        ['GET /v1/subjects', [200, 401, 403, 422, 429, 500, 503]],
        ['POST /v1/adapters/activate', [200, 401, 403, 404, 409, 413, 422, 429, 500, 503]],
        ['GET /v1/models', [200, 401, 403, 422, 429, 500, 503]],
      ],
    );
    for (const { operation } of operations) assert.deepEqual(operation.security, [{ apiKey: [] }]);
  });

  test('names every code of the error table', () => {
    const named = new Set(operations.flatMap(({ operation }) => errorCodes(operation)));
    // Any other path or method.
    assert.deepEqual(
      Object.keys(errorTable).filter((code) => !named.has(code)),
      ['method_not_allowed'],
    );
  });

  test('shows examples that are answers of its own schemas', () => {
    const schemas = { receipt, activationResult, job, jobList, modelCatalogue, subjectList };
    const shown = operations
      .filter(({ path }) => path !== '/v1/chat/completions')
      .flatMap(({ operation }) => successExamples(operation));
    assert.equal(shown.length, 10);
    for (const example of shown) {
      assert.ok(
        Object.values(schemas).some((schema) => schema.safeParse(example).success),
        JSON.stringify(example),
      );
    }
  });

  test('shows requests that are taken', async () => {
    for (const { method, path, operation } of operations) {
      const body = operation.requestBody?.content['application/json']?.examples?.['request']?.value;
      if (body === undefined) continue;
      const response = await service.call(method, path, {
        body,
        headers: { 'idempotency-key': `example-${path.length}` },
      });
      assert.notEqual(response.statusCode, 422, response.body);
    }
  });
});

describe('the served description', () => {
  test('"`GET /openapi.json` is the description, version 1.0.0", without a key', async () => {
    const response = await service.call('GET', '/openapi.json', { key: null });
    assert.equal(response.statusCode, 200);
    assert.match(String(response.headers['content-type']), /^application\/json/);
    assert.deepEqual(response.json(), document);
  });

  test('every described endpoint is there, and asks for a key', async () => {
    for (const { method, path } of operations) {
      const response = await service.call(method, path.replace('{id}', 'job_x'), { key: null });
      assert.equal(response.statusCode, 401, `${method} ${path}`);
    }
  });

  test('GET /docs shows every endpoint and field on one page that loads nothing', async () => {
    const response = await service.call('GET', '/docs', { key: null });
    assert.equal(response.statusCode, 200);
    assert.match(String(response.headers['content-type']), /^text\/html/);
    for (const { operation, path } of operations) {
      assert.ok(response.body.includes(`id="${operation.operationId}"`), operation.operationId);
      assert.ok(response.body.includes(`>${path}</code>`), path);
    }
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      assert.ok(response.body.includes(`id="schema-${name}"`), name);
      for (const field of Object.keys(schema.properties ?? {})) {
        assert.ok(response.body.includes(`<code>${field}</code>`), `${name}.${field}`);
      }
    }
    assert.doesNotMatch(response.body, /<script|<link|<img|src=|url\(|@import|undefined|\[object/);
    const style = /<style>([^]*?)<\/style>/.exec(response.body)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    assert.ok(String(response.headers['content-security-policy']).includes(`'sha256-${hash}'`));
  });
});

function errorCodes(operation: Operation): string[] {
  return Object.entries(operation.responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, response]) => Object.keys(response.content['application/json']?.examples ?? {}));
}

function successExamples(operation: Operation): unknown[] {
  return Object.entries(operation.responses)
    .filter(([status]) => Number(status) < 400)
    .flatMap(([, response]) => Object.values(response.content['application/json']?.examples ?? {}))
    .map(({ value }) => value);
}
