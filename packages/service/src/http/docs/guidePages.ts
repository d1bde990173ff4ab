import { fileURLToPath } from 'node:url';
import { ApiError } from '@engraft/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { limitOperations, type StrangerLimits } from '../limitStrangers.js';
import { readStaticFiles, sendStaticFile } from '../staticFiles.js';

/** The folder into which `npm run build` renders `docs/`. */
const builtGuide = fileURLToPath(new URL('../../guide/', import.meta.url));

/** The pages run no script. Their style sheet and pictures are files beside them. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * `GET /docs/guide`: the guide as static pages, without a key. The page `operating.html` is at `/docs/guide/operating`.
 */
export function guidePages(app: FastifyInstance, strangers: StrangerLimits, folder = builtGuide): void {
  const onRequest = limitOperations(strangers);
  const files = readStaticFiles(folder);
  // The first caller gets the error; until then a folder that cannot be read harms nobody.
  files.catch(() => undefined);

  const send = async (request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply> => {
    const guide = await files;
    const page = guide.get(name) ?? guide.get(`${name}.html`);
    if (page === undefined)
      throw new ApiError('not_found', {
        message:
          guide.size === 0
            ? 'The guide is not built; `npm run build` does it.'
            : 'The guide has no such page; GET /docs/guide lists those that there are.',
      });
    void reply.headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-cache' });
    return sendStaticFile(request, reply, page);
  };

  app.get('/docs/guide', { onRequest }, (request, reply) => send(request, reply, 'index.html'));
  app.get<{ Params: { '*': string } }>('/docs/guide/*', { onRequest }, (request, reply) =>
    send(request, reply, request.params['*'] || 'index.html'),
  );
}
