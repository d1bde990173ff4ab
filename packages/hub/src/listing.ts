import { listFiles, modelInfo } from '@huggingface/hub';
import { z } from 'zod';
import type { ContentHash } from './contentHash.js';
import { PassingFailure, piecesOf, type HubClient, type Patience } from './hubClient.js';
import { HubError } from './hubError.js';
import { isCommit, type ModelName } from './modelName.js';
import { IdleWatch, patiently } from './patiently.js';

export interface RemoteFile {
  /** Its parts are separated by `/`, and none leads out of the model. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly hash: ContentHash;
}

export interface Listing {
  readonly commit: string;
  readonly files: readonly RemoteFile[];
}

export interface ListingOptions {
  readonly endpoint: string;
  readonly patience: Patience;
  readonly signal?: AbortSignal;
}

const maxEntries = 100_000;
/** One answer lists at most a thousand files. */
const maxAnswerBytes = 2 ** 26;

const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
const sizeSchema = z.int().nonnegative();

const entrySchema = z.object({
  type: z.string(),
  path: z.string().refine(isInside, 'leads out of the model'),
  size: sizeSchema,
  oid: hex(40),
  lfs: z.object({ oid: hex(64), size: sizeSchema }).nullish(),
});

/**
 * The commit that the revision stands for, and its files with their sizes and hashes.
 * @throws HubError `access_denied`, `not_found`, `unreachable`, `answer_invalid`.
 */
export async function listModel(client: HubClient, name: ModelName, options: ListingOptions): Promise<Listing> {
  const ask = { hubUrl: options.endpoint, fetch: fetchWhole(client, options) };
  const { sha } = await readable(client, () =>
    modelInfo({ ...ask, name: name.id, revision: name.revision, additionalFields: ['sha'] }),
  );
  if (!isCommit(sha)) throw senseless(client, 'it names no commit');
  const files: RemoteFile[] = [];
  await readable(client, async () => {
    const repo = { type: 'model', name: name.id } as const;
    let count = 0;
    for await (const entry of listFiles({ ...ask, repo, revision: sha, recursive: true })) {
      count += 1;
      if (count > maxEntries) throw senseless(client, `it lists more than ${maxEntries} files`);
      if (entry.type !== 'file') continue;
      const parsed = entrySchema.safeParse(entry);
      if (!parsed.success) throw senseless(client, z.prettifyError(parsed.error).replaceAll(/\s+/g, ' '));
      const { path, size, oid, lfs } = parsed.data;
      const hash = lfs ? ({ kind: 'sha256', digest: lfs.oid } as const) : ({ kind: 'git-sha1', digest: oid } as const);
      files.push({ path, sizeBytes: lfs?.size ?? size, hash });
    }
  });
  return { commit: sha, files };
}

/**
 * `fetch` for the library, which composes addresses and goes from page to page, even to another host. So the token is
 * added here. An answer is read as a whole before it is passed on, and requested again if it breaks.
 */
function fetchWhole(client: HubClient, { patience, signal }: ListingOptions): typeof fetch {
  return (input) =>
    patiently(
      client,
      patience,
      async () => {
        const watch = new IdleWatch(patience.idleMs, signal);
        try {
          const url = input instanceof Request ? input.url : input.toString();
          const answer = await client.ask(url, { accept: 'application/json' }, watch.signal);
          if (!answer.response.ok) throw await client.failureOf(answer);
          const { status, headers } = answer.response;
          return new Response(await readAll(client, answer.response, watch), { status, headers });
        } catch (error) {
          if (watch.signal.reason instanceof PassingFailure) throw watch.signal.reason;
          throw error;
        } finally {
          watch.end();
        }
      },
      signal === undefined ? {} : { signal },
    );
}

async function readAll(client: HubClient, response: Response, watch: IdleWatch): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of piecesOf(response)) {
      watch.heard();
      bytes += piece.byteLength;
      if (bytes > maxAnswerBytes) throw senseless(client, `it answers with more than ${maxAnswerBytes} bytes`);
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof HubError) throw error;
    watch.signal.throwIfAborted();
    throw new PassingFailure('the connection broke', null, { cause: error });
  }
  return new Uint8Array(Buffer.concat(pieces));
}

/** An error that the library throws about an answer that it cannot read. */
async function readable<T>(client: HubClient, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) throw senseless(client, error.message);
    throw error;
  }
}

function senseless(client: HubClient, what: string): HubError {
  return new HubError('answer_invalid', `${client.host} does not answer like a hub (${what}): check HF_ENDPOINT`);
}

/** Paths become paths in the cache. */
function isInside(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\\0:]/.test(part));
}
