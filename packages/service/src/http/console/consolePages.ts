import { fileURLToPath } from 'node:url';
import { ApiError } from '@engraft/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { limitOperations, type StrangerLimits } from '../limitStrangers.js';
import { readStaticFiles, sendStaticFile, type StaticFiles } from '../staticFiles.js';

/** The folder into which `npm run build` bundles `packages/console`. */
export const builtConsole = fileURLToPath(new URL('../../../../console/dist/app/', import.meta.url));

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `GET /console`: each address that is no file is a page of the application. */
export function consolePages(app: FastifyInstance, strangers: StrangerLimits, folder = builtConsole): void {
  const onRequest = limitOperations(strangers);
  const pages = readStaticFiles(folder);
  // A folder that cannot be read harms nobody until somebody asks for a page, and then the answer says so.
  pages.catch(() => undefined);

  app.get('/console', { onRequest }, async (request, reply) => send(request, reply, await pages, 'index.html'));
  app.get<{ Params: { '*': string } }>('/console/*', { onRequest }, async (request, reply) => {
    const { '*': name } = request.params;
    const files = await pages;
    if (files.has(name)) return send(request, reply, files, name);
    // Not a page of the application: what these do not have, nobody has.
    if (/^(api|assets)(\/|$)/.test(name)) throw new ApiError('not_found');
    return send(request, reply, files, 'index.html');
  });
}

function send(request: FastifyRequest, reply: FastifyReply, files: StaticFiles, name: string): FastifyReply {
  const page = files.get(name);
  if (page === undefined)
    throw new ApiError('not_found', { message: 'The console is not built; `npm run build` does it.' });
  void reply.headers({
    'content-security-policy': contentSecurityPolicy,
    // The name of an asset changes with its content.
    'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
  });
  return sendStaticFile(request, reply, page);
}
