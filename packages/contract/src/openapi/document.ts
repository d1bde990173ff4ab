import { describeOperation } from './operation.js';
import { operationSources } from './operations.js';
import { headers, parameters } from './parameters.js';
import { componentSchemas } from './schemas.js';
import type { OpenApiDocument } from './types.js';

/** "The machine-readable description of the API declares version 1.0.0." */
const apiVersion = '1.0.0';

const introduction = `Engraft learns a passage of text into LoRA weights for a named subject, and answers from them.

Model work is done by durable jobs: a write returns a receipt, and the outcome is read from the job. Every request under \`/v1\` carries a project API key as \`Authorization: Bearer <API_KEY>\`. Keys are for servers: a request with an \`Origin\` header is refused. The key selects the project, and may be restricted to one tenant.

Amounts of money are integers of micro-USD (1,000,000 are 1 USD). Timestamps are ISO 8601 in UTC. Query parameters that an endpoint does not define are refused with 422. There are no webhooks: outcomes are obtained by polling.

Any path that is not described here answers 404 \`not_found\`, and another method on a path that is answers 405 \`method_not_allowed\` with \`Allow\`.`;

/**
 * The description of the API, generated from the schemas that validate. `modelId` is the wire name of the
 * installation's model.
 */
export function openApiDocument(modelId = 'model-5.3'): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const [path, method, source] of operationSources(modelId)) {
    paths[path] = { ...paths[path], [method]: describeOperation(source) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Engraft API',
      version: apiVersion,
      summary: 'Learn passages into model weights, and ask about them.',
      description: introduction,
    },
    servers: [{ url: '/', description: 'The service that serves this description.' }],
    tags: [
      { name: 'Learning', description: 'Passages become versions.' },
      { name: 'Inference', description: 'Questions are answered by a version or by the base model.' },
      { name: 'Jobs', description: 'Where outcomes and charges are read.' },
      { name: 'Subjects', description: 'Who has learned what, and which version is active.' },
      { name: 'Models', description: 'What there is, and what it costs.' },
    ],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'A project API key. Invalid, expired and revoked keys are answered with 401.',
        },
      },
      parameters,
      headers,
      schemas: componentSchemas(modelId),
    },
  };
}
