import { ApiError } from '@engraft/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseBrowsers } from './authenticateRequest.js';
import type { StrangerLimits } from './limitStrangers.js';
import { whatThereIs } from './whatThereIs.js';

/**
 * Answers requests that no route takes: 405 with `Allow` on a known path, else 404. Call it before the routes are
 * registered. Both answers come before authentication, since there is nothing to protect.
 */
export function answerUnknownPaths(app: FastifyInstance, strangers: StrangerLimits): void {
  const methodsByPath = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ method, url }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    methodsByPath.set(url, methods);
  });
  const allowedMethods = (path: string): string[] =>
    [...methodsByPath].filter(([pattern]) => pathMatches(pattern, path)).flatMap(([, methods]) => [...methods]);

  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    const path = request.url.split('?', 1)[0] ?? '';
    if (isApiPath(path)) await refuseBrowsers(strangers, request);
    await strangers.slow('no_key', request);
    const allowed = allowedMethods(path);
    if (allowed.length === 0 || allowed.includes(request.method)) {
      const isKnown = (other: string): boolean => allowedMethods(other).length > 0;
      throw new ApiError('not_found', { message: whatThereIs(path, isKnown) });
    }
    void reply.header('allow', allowed.join(', '));
    throw new ApiError('method_not_allowed');
  };
  app.setNotFoundHandler(refuse);
  // Comes this early because the framework has its own opinions about the bodies of some methods (QUERY).
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) await refuse(request, reply);
  });
}

function isApiPath(path: string): boolean {
  return path === '/v1' || path.startsWith('/v1/');
}

/**
 * `/v1/jobs/:id` matches `/v1/jobs/anything`. What there is under `/docs/guide/*`, only its route knows: such a path
 * counts as unknown.
 */
function pathMatches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const segments = path.split('/');
  return (
    !pattern.endsWith('*') &&
    wanted.length === segments.length &&
    wanted.every((part, index) => (part.startsWith(':') ? segments[index] !== '' : part === segments[index]))
  );
}
