import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { hashFile } from './contentHash.js';
import { PassingFailure, piecesOf, type HubAnswer, type HubClient, type Patience } from './hubClient.js';
import { HubError, isMissing } from './hubError.js';
import type { RemoteFile } from './listing.js';
import { IdleWatch, patiently } from './patiently.js';

export interface BlobDownload {
  readonly url: string;
  readonly file: RemoteFile;
  readonly commit: string;
  /** The final place of the content. */
  readonly blob: string;
  readonly patience: Patience;
  readonly signal?: AbortSignal;
  /** The current number of bytes of the file. It falls if the download had to begin again. */
  readonly onBytes?: (bytes: number) => void;
}

/** Wrong content may have been damaged before, or on its way, so it is fetched once more. */
const maxWrong = 2;

/** Earlier releases of Python's tools write to another name, so nobody else appends to this file. */
export function partialOf(blob: string): string {
  return `${blob}.engraft.incomplete`;
}

/**
 * Downloads one file of a hub. It goes on where an earlier attempt stopped, and names the file when its content has the
 * hash that the hub promises. One caller at a time for each blob.
 * @throws HubError `content_wrong`, `answer_invalid`, `access_denied`, `not_found`, `unreachable`; errors of the file
 * system.
 */
export async function downloadBlob(client: HubClient, download: BlobDownload): Promise<void> {
  const { blob, file, patience, signal } = download;
  await mkdir(path.dirname(blob), { recursive: true });
  const partial = partialOf(blob);
  for (let wrong = 0; wrong < maxWrong; wrong += 1) {
    const handle = await open(partial, 'a');
    try {
      const reached = async (): Promise<number> => (await handle.stat()).size;
      const options = signal === undefined ? { reached } : { reached, signal };
      await patiently(client, patience, () => fetchRest(client, download, handle), options);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if ((await hashFile(partial, file.hash.kind, file.sizeBytes)) === file.hash.digest) {
      await rename(partial, blob);
      return;
    }
    await rm(partial);
  }
  throw new HubError(
    'content_wrong',
    `${file.path} came with other content than ${client.host} promises (${file.hash.kind} ${file.hash.digest}), ` +
      'twice: a proxy or a mirror may have changed it; check HF_ENDPOINT',
  );
}

/** The bytes of a blob that were downloaded before. */
export async function partialBytes(blob: string): Promise<number> {
  return stat(partialOf(blob)).then(
    ({ size }) => size,
    (error: unknown) => {
      if (isMissing(error)) return 0;
      throw error;
    },
  );
}

/** Resolves when the file has all of its bytes, right or wrong. */
async function fetchRest(client: HubClient, download: BlobDownload, handle: FileHandle): Promise<void> {
  const { url, file, patience, signal, onBytes } = download;
  let at = (await handle.stat()).size;
  if (at > file.sizeBytes) at = await beginAnew(handle);
  onBytes?.(at);
  if (at === file.sizeBytes) return;
  const watch = new IdleWatch(patience.idleMs, signal);
  try {
    // Compressed bytes could not be counted.
    const range: Record<string, string> = at === 0 ? {} : { range: `bytes=${at}-` };
    const answer = await client.ask(url, { ...range, 'accept-encoding': 'identity' }, watch.signal);
    checkPromise(client, download, answer);
    at = await startOf(client, file, answer, handle, at);
    for await (const piece of piecesOf(answer.response)) {
      watch.heard();
      at += piece.byteLength;
      // More bytes than were asked for are wrong in any case: their hash will be, too.
      await handle.writeFile(at > file.sizeBytes ? piece.subarray(0, piece.byteLength - at + file.sizeBytes) : piece);
      onBytes?.(Math.min(at, file.sizeBytes));
      if (at > file.sizeBytes) return;
    }
  } catch (error) {
    throw passing(error, watch, signal);
  } finally {
    watch.end();
  }
  if (at < file.sizeBytes) throw new PassingFailure('the connection broke');
}

/** Errors of the body are those of the connection. Errors of the disk, and ours, stay as they are. */
function passing(error: unknown, watch: IdleWatch, signal: AbortSignal | undefined): unknown {
  signal?.throwIfAborted();
  if (watch.signal.reason instanceof PassingFailure) return watch.signal.reason;
  return error instanceof TypeError ? new PassingFailure('the connection broke', null, { cause: error }) : error;
}

/** Where the answer continues in the file: where it stopped, or at its beginning if the server has no ranges. */
async function startOf(
  client: HubClient,
  { sizeBytes }: RemoteFile,
  answer: HubAnswer,
  handle: FileHandle,
  at: number,
): Promise<number> {
  const { status, headers } = answer.response;
  if (status === 200) return beginAnew(handle);
  const part = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '');
  if (status === 206 && part !== null) {
    const [, start, total] = part;
    if (Number(start) === at && (total === '*' || Number(total) === sizeBytes)) return at;
  }
  if (status !== 206 && status !== 416) throw await client.failureOf(answer);
  // The file has changed, or the server counts differently.
  await answer.response.body?.cancel();
  await beginAnew(handle);
  throw new PassingFailure('it gave another part of the file than was asked for');
}

async function beginAnew(handle: FileHandle): Promise<number> {
  await handle.truncate(0);
  return 0;
}

/** The headers beside a file must agree with the hub's listing. It is better to know before gigabytes than after. */
function checkPromise(client: HubClient, { file, commit }: BlobDownload, { hubHeaders, response }: HubAnswer): void {
  if (response.status >= 400 && response.status !== 416) return;
  const promises: readonly (readonly [string, string])[] = [
    ['x-repo-commit', commit],
    ['x-linked-size', String(file.sizeBytes)],
    ...(file.hash.kind === 'sha256' ? [['x-linked-etag', file.hash.digest] as const] : []),
  ];
  for (const [header, expected] of promises) {
    const said = hubHeaders.get(header)?.replace(/^W\//, '').replaceAll('"', '');
    if (said === undefined || said === expected) continue;
    throw new HubError(
      'answer_invalid',
      `${client.host} contradicts itself about ${file.path} (${header} is ${said.slice(0, 80)}, not ${expected}): ` +
        'check HF_ENDPOINT',
    );
  }
}
