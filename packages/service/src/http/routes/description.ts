import { createHash } from 'node:crypto';
import { openApiDocument } from '@engraft/contract';
import type { FastifyInstance } from 'fastify';
import { guidePages } from '../docs/guidePages.js';
import { renderReference } from '../docs/page.js';
import { style } from '../docs/style.js';
import { limitOperations, type StrangerLimits } from '../limitStrangers.js';

/** The page runs no script and loads nothing. Its one style sheet is allowed by its hash. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `GET /openapi.json`, and the same for people at `GET /docs`. They need no key and are not under `/v1`. */
export function descriptionRoutes(
  app: FastifyInstance,
  { model_id, strangers }: { readonly model_id: string; readonly strangers: StrangerLimits },
): void {
  const onRequest = limitOperations(strangers);
  const document = openApiDocument(model_id);
  const page = renderReference(document);

  // The same bytes for everybody, so that a client that asks a thousand times and reads nothing holds no copies.
  const json = Buffer.from(JSON.stringify(document));
  const html = Buffer.from(page);

  app.get('/openapi.json', { onRequest }, async (_request, reply) => {
    return reply.type('application/json; charset=utf-8').send(json);
  });

  app.get('/docs', { onRequest }, async (_request, reply) => {
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', contentSecurityPolicy)
      .header('x-content-type-options', 'nosniff')
      .send(html);
  });

  guidePages(app, strangers);
}
