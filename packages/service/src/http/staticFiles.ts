import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

interface StaticFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/** By their paths in the folder, with `/` between the names. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

/**
 * The files of a folder that the build made, held in memory. Only what is read here is ever sent, so no path leads out
 * of the folder. A folder that does not exist has no files.
 */
export async function readStaticFiles(folder: string): Promise<StaticFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  const files = entries.filter((entry) => entry.isFile() && path.extname(entry.name) in types);
  const pages = files.map(async ({ parentPath, name }): Promise<[string, StaticFile]> => {
    const file = path.join(parentPath, name);
    const plain = await readFile(file);
    const type = types[path.extname(name)] ?? '';
    return [path.relative(folder, file).split(path.sep).join('/'), { type, plain, gzipped: await compress(plain) }];
  });
  return new Map(await Promise.all(pages));
}

export function sendStaticFile(request: FastifyRequest, reply: FastifyReply, file: StaticFile): FastifyReply {
  const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  void reply.headers({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    vary: 'accept-encoding',
    ...(takesGzip ? { 'content-encoding': 'gzip' } : {}),
  });
  return reply.type(file.type).send(takesGzip ? file.gzipped : file.plain);
}

const compress = promisify<Buffer, Buffer>(gzip);
