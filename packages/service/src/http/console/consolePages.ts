import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ApiError } from '@engraft/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { limitOperations, type StrangerLimits } from '../limitStrangers.js';

/** The folder into which `npm run build` bundles `packages/console`. */
export const builtConsole = fileURLToPath(new URL('../../../../console/dist/app/', import.meta.url));

const content_security_policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface Page {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/**
 * `GET /console`: a few files, held in memory. Only what was read at the start is ever sent, so that no path leads out
 * of the folder; each address that is no file is a page of the application.
 */
export function consolePages(app: FastifyInstance, strangers: StrangerLimits, folder = builtConsole): void {
  const onRequest = limitOperations(strangers);
  const pages = readPages(folder);
  // Whoever asks first is told; until then a folder that cannot be read harms nobody.
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

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  files: ReadonlyMap<string, Page>,
  name: string,
): FastifyReply {
  const page = files.get(name);
  if (page === undefined)
    throw new ApiError('not_found', { message: 'The console is not built; `npm run build` does it.' });
  const takes_gzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  void reply.headers({
    'content-security-policy': content_security_policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    // The name of an asset changes with its content.
    'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
    ...(takes_gzip ? { 'content-encoding': 'gzip' } : {}),
  });
  return reply.type(page.type).send(takes_gzip ? page.gzipped : page.plain);
}

async function readPages(folder: string): Promise<ReadonlyMap<string, Page>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  const files = entries.filter((entry) => entry.isFile() && path.extname(entry.name) in types);
  const pages = files.map(async ({ parentPath, name }): Promise<[string, Page]> => {
    const file = path.join(parentPath, name);
    const plain = await readFile(file);
    const type = types[path.extname(name)] ?? '';
    return [path.relative(folder, file).split(path.sep).join('/'), { type, plain, gzipped: await compress(plain) }];
  });
  return new Map(await Promise.all(pages));
}

const compress = promisify<Buffer, Buffer>(gzip);
