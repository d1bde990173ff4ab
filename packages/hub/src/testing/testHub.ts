/**
 * A fault injector: a hub on the loopback interface that answers like Hugging Face's, and fails as it is told. Large
 * files are on a second server, another host, like those of the real one on a CDN.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { entriesOf, entryOf, type Files, type ListedFile } from './hubFiles.js';

export interface SeenRequest {
  readonly host: 'hub' | 'cdn';
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly status: number;
}

/** The faults to inject. Each is asked once for each request. */
export interface Faults {
  /** The connection is cut after this many bytes of a file's content. `null` for never. */
  cutAfter: (lengthBytes: number) => number | null;
  ignoresRange: boolean;
  /** Sends bytes from another place than was asked for, and says so. */
  shiftsRange: boolean;
  /** The content sent in place of the true one. `null` for the true one. */
  contentOf: (path: string) => Buffer | null;
  /** The hash beside a large file. `null` for the true one. */
  linkedEtag: string | null;
  /** The status of a failed answer. `null` if the answer succeeds. */
  status: (host: SeenRequest['host'], path: string) => number | null;
  retryAfter: string | null;
  /** Sends headers and then nothing more. */
  stalls: () => boolean;
  /** The secret without which it tells nothing. */
  token: string | null;
  /** Even callers with the token are refused. */
  isGated: boolean;
  /** The next page of a listing is on the other host. */
  pagesElsewhere: boolean;
  /** Replaces the listing's pages. */
  listing: ((entries: readonly ListedFile[]) => unknown) | null;
  redirectTo: string | null;
}

export interface TestHub {
  readonly endpoint: string;
  readonly cdn: string;
  readonly faults: Faults;
  readonly seen: SeenRequest[];
  /** Gives the revision these files; @returns its commit. */
  put(id: string, files: Files, revision?: string): string;
  close(): Promise<void>;
}

const noFaults: Faults = {
  cutAfter: () => null,
  ignoresRange: false,
  shiftsRange: false,
  contentOf: () => null,
  linkedEtag: null,
  status: () => null,
  retryAfter: null,
  stalls: () => false,
  token: null,
  isGated: false,
  pagesElsewhere: false,
  listing: null,
  redirectTo: null,
};

/** Entries on one page of a listing. Hugging Face has a thousand. */
const pageSize = 3;

export async function startTestHub(): Promise<TestHub> {
  const hub = new Hub();
  const servers = [
    createServer((...call) => hub.answer('hub', ...call)),
    createServer((...call) => hub.answer('cdn', ...call)),
  ];
  // Two ports are two origins, and two names make them two hosts as well.
  const [endpoint = '', cdn = ''] = await Promise.all(servers.map(listen));
  hub.endpoint = endpoint;
  hub.cdn = cdn.replace('127.0.0.1', 'localhost');
  return {
    endpoint,
    cdn: hub.cdn,
    faults: hub.faults,
    seen: hub.seen,
    put: (...model) => hub.put(...model),
    close: async () => {
      await Promise.all(servers.map(close));
    },
  };
}

class Hub {
  endpoint = '';
  cdn = '';
  readonly faults: Faults = { ...noFaults };
  readonly seen: SeenRequest[] = [];
  /** By `ORG/NAME`, then by commit. */
  readonly #models = new Map<string, Map<string, Files>>();
  /** Commits by `ORG/NAME@REVISION`. */
  readonly #refs = new Map<string, string>();

  put(id: string, files: Files, revision = 'main'): string {
    const hash = createHash('sha1').update(id);
    for (const [path, content] of Object.entries(files)) hash.update(path).update(content);
    const commit = hash.digest('hex');
    const commits = this.#models.get(id) ?? new Map<string, Files>();
    this.#models.set(id, commits.set(commit, files));
    this.#refs.set(`${id}@${revision}`, commit);
    return commit;
  }

  answer(host: SeenRequest['host'], request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    response.on('close', () => {
      this.seen.push({ host, path, headers: request.headers, status: response.statusCode });
    });
    const status = this.faults.status(host, path);
    if (status !== null) {
      const wait: Record<string, string> =
        this.faults.retryAfter === null ? {} : { 'retry-after': this.faults.retryAfter };
      response.writeHead(status, wait).end('no');
    } else if (host === 'cdn') this.#sendSigned(path, request, response);
    else if (this.#letsIn(request, response)) this.#route(path, request, response);
  }

  #letsIn(request: IncomingMessage, response: ServerResponse): boolean {
    const { token, isGated } = this.faults;
    if (isGated) {
      response.writeHead(403, { 'x-error-code': 'GatedRepo' }).end('{}');
      return false;
    }
    if (token === null || request.headers.authorization === `Bearer ${token}`) return true;
    response.writeHead(401, { 'x-error-code': 'RepoNotFound' }).end('{}');
    return false;
  }

  #route(path: string, request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(path, this.endpoint);
    const api = /^\/api\/models\/([^/]+\/[^/]+)\/(revision|tree)\/([^/]+)$/.exec(url.pathname);
    const file = /^\/([^/]+\/[^/]+)\/resolve\/([0-9a-f]{40})\/(.+)$/.exec(url.pathname);
    const [, id = '', kind = '', revision = ''] = api ?? file ?? [];
    const commits = this.#models.get(id);
    if (commits === undefined) {
      notFound(response, 'RepoNotFound');
      return;
    }
    if (file !== null) {
      this.#sendFile(id, kind, decodeURIComponent(revision), request, response);
      return;
    }
    const name = decodeURIComponent(revision);
    const commit = commits.has(name) ? name : this.#refs.get(`${id}@${name}`);
    const files = commits.get(commit ?? '');
    if (commit === undefined || files === undefined) {
      notFound(response, 'RevisionNotFound');
      return;
    }
    if (kind === 'revision') {
      sendJson(response, { _id: '1', id, sha: commit, private: false, gated: false, downloads: 0, likes: 0 });
    } else this.#sendPage(url, entriesOf(files), response);
  }

  #sendPage(url: URL, entries: readonly ListedFile[], response: ServerResponse): void {
    const { listing, pagesElsewhere } = this.faults;
    if (listing !== null) {
      sendJson(response, listing(entries));
      return;
    }
    const start = Number(url.searchParams.get('cursor') ?? '0');
    const next = new URL(url.pathname + url.search, pagesElsewhere ? this.cdn : this.endpoint);
    next.searchParams.set('cursor', String(start + pageSize));
    const hasMore = start + pageSize < entries.length;
    sendJson(response, entries.slice(start, start + pageSize), hasMore ? { link: `<${next.href}>; rel="next"` } : {});
  }

  #sendFile(id: string, commit: string, path: string, request: IncomingMessage, response: ServerResponse): void {
    const content = this.#models.get(id)?.get(commit)?.[path];
    if (content === undefined) {
      notFound(response, 'EntryNotFound');
      return;
    }
    const entry = entryOf(path, Buffer.from(content));
    const headers = { 'x-repo-commit': commit };
    if (this.faults.redirectTo !== null) {
      response.writeHead(302, { location: this.faults.redirectTo }).end();
    } else if (entry.lfs === undefined) {
      this.#send(path, Buffer.from(content), request, response, { ...headers, etag: `"${entry.oid}"` });
    } else {
      response.writeHead(302, {
        ...headers,
        'x-linked-etag': `"${this.faults.linkedEtag ?? entry.lfs.oid}"`,
        'x-linked-size': String(entry.size),
        location: `${this.cdn}/signed/${id}/${commit}/${path}?signature=secret`,
      });
      response.end();
    }
  }

  #sendSigned(path: string, request: IncomingMessage, response: ServerResponse): void {
    const page = /^\/api\/models\/([^/]+\/[^/]+)\/tree\/([0-9a-f]{40})\?/.exec(path);
    if (page !== null) {
      const files = this.#models.get(page[1] ?? '')?.get(page[2] ?? '') ?? {};
      this.#sendPage(new URL(path, this.cdn), entriesOf(files), response);
      return;
    }
    const [, id = '', commit = '', name = ''] =
      /^\/signed\/([^/]+\/[^/]+)\/([0-9a-f]{40})\/(.+)\?signature=secret$/.exec(path) ?? [];
    const content = this.#models.get(id)?.get(commit)?.[name];
    if (content === undefined) {
      notFound(response, 'EntryNotFound');
      return;
    }
    // A CDN has etags of its own.
    this.#send(name, Buffer.from(content), request, response, { etag: '"cdn"' });
  }

  #send(
    path: string,
    truth: Buffer,
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): void {
    const { faults } = this;
    const content = faults.contentOf(path) ?? truth;
    const asked = faults.ignoresRange ? null : /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    const start = asked === null ? 0 : Math.max(0, Number(asked[1]) - (faults.shiftsRange ? 1 : 0));
    if (asked !== null && start >= content.length) {
      response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
      return;
    }
    const body = content.subarray(start);
    const range: Record<string, string> =
      asked === null ? {} : { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` };
    response.writeHead(asked === null ? 200 : 206, { ...headers, ...range, 'content-length': String(body.length) });
    const cut = faults.cutAfter(body.length);
    if (faults.stalls()) response.write(body.subarray(0, 1));
    else if (cut === null) response.end(body);
    else if (cut === 0) response.destroy();
    else response.write(body.subarray(0, cut), () => response.destroy());
  }
}

function sendJson(response: ServerResponse, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

function notFound(response: ServerResponse, code: string): void {
  response.writeHead(404, { 'x-error-code': code, 'content-type': 'application/json' }).end('{}');
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
