const chat = 'POST /v1/chat/completions';

/** Paths that OpenAI clients try, and what exists instead. */
const elsewhere: readonly (readonly [RegExp, string])[] = [
  [/^\/v1\/models\/./, 'There is one model; GET /v1/models shows it.'],
  [/^\/v1\/(fim\/)?completions$/, `There are no completions of a plain prompt; ${chat} takes messages.`],
  [/^\/v1\/responses(\/|$)/, `The Responses API is not offered; ${chat} takes messages.`],
  [/^\/v1\/embeddings$/, `Embeddings are not offered; ${chat} answers messages.`],
  [/^\/v1\/chat\/completions\/./, 'Completions are read as jobs: GET /v1/jobs/{id}, with the id of X-Service-Job-Id.'],
  [/^\/v1\/(inferences|internalizations)\/./, 'What was admitted is read as a job: GET /v1/jobs/{id}.'],
];

/** The message of a 404 on a path that no route takes. It names the path that was probably meant, and repeats none. */
export function whatThereIs(path: string, isKnown: (path: string) => boolean): string {
  const bare = path.replace(/\/{1,2}$/, '');
  if (bare !== path && isKnown(bare)) return withoutSlash(shown(bare));
  for (const [pattern, message] of elsewhere) if (pattern.test(bare)) return message;
  const api = `/v1${bare.replace(/^(\/v1)+(?=\/)/, '')}`;
  if (api !== bare && isKnown(api)) return `The paths of the API begin with /v1, once: use ${shown(api)}.`;
  // The description may have an address of its own, which is the operator's business.
  return isKnown('/openapi.json')
    ? 'There is no such path; GET /openapi.json describes those that there are.'
    : 'There is no such path.';
}

/** Finds a path that exists without the slash at its end. */
export function withoutSlash(path: string): string {
  return `No path here ends in a slash: use ${path}.`;
}

/** A path with a job's id in it is the caller's own text. */
function shown(path: string): string {
  return path.startsWith('/v1/jobs/') ? '/v1/jobs/{id}' : path;
}
