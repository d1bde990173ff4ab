/**
 * A fault injector, and a stub: a server that speaks as much of S3 as the store of adapters needs, and does wrong what
 * a real one cannot be made to. It checks no signature; `npm run test:s3` runs the same tests with a real server.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface StubRequest {
  readonly method: string;
  /** Without the name of the bucket. */
  readonly key: string;
}

export type BucketFault =
  /** The connection ends before an answer. */
  | 'gone'
  /** The connection ends in the middle of a body, of a request or of an answer. */
  | 'cut'
  /** No answer comes. */
  | 'silent'
  /** Other bytes of the same number. */
  | 'wrong bytes'
  /** An answer with this status. */
  | 403
  | 503;

export interface StubBucket {
  /** For the AWS SDK, and of a service. */
  readonly environment: Readonly<Record<string, string>>;
  readonly objects: Map<string, Buffer>;
  /** When they were put, in seconds by a clock that each request to put moves on. */
  readonly putAtS: Map<string, number>;
  readonly requests: StubRequest[];
  /** The fault that a request meets, or `null`. */
  fault: (request: StubRequest) => BucketFault | null;
  /** As of servers that know nothing of checksums, and say so by not returning them. */
  knowsChecksums: boolean;
  stop(): Promise<void>;
}

export const noFault = (): null => null;

/** The fault for so many requests of the method, and nothing after them. */
export function forRequests(count: number, method: string, fault: BucketFault): StubBucket['fault'] {
  let left = count;
  return (request) => {
    if (request.method !== method || left === 0) return null;
    left -= 1;
    return fault;
  };
}

const bucketName = 'adapters';

export async function startStubBucket(): Promise<StubBucket> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stub: StubBucket = {
    environment: {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: 'stub',
      AWS_SECRET_ACCESS_KEY: 'stub',
      AWS_REGION: 'us-east-1',
      ENGRAFT_ADAPTER_STORE: `s3://${bucketName}/of/tests`,
    },
    objects: new Map(),
    putAtS: new Map(),
    requests: [],
    fault: noFault,
    knowsChecksums: true,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  server.on('request', (request, response) => {
    answer(stub, request, response).catch(() => response.destroy());
  });
  return stub;
}

async function answer(stub: StubBucket, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://stub');
  const key = decodeURIComponent(pathname).replace(`/${bucketName}/`, '');
  const asked = { method: request.method ?? '', key };
  stub.requests.push(asked);
  const fault = stub.fault(asked);
  if (fault === 'silent') return;
  if (fault === 'gone' || (fault === 'cut' && asked.method === 'PUT')) {
    // A part of the body may have come.
    request.once('data', () => request.destroy());
    if (fault === 'gone') request.destroy();
    return;
  }
  if (typeof fault === 'number') {
    refuse(response, fault, fault === 503 ? 'SlowDown' : 'AccessDenied');
    return;
  }
  if (asked.method === 'PUT') return put(stub, key, request, response);
  if (asked.method === 'DELETE') {
    stub.objects.delete(key);
    response.writeHead(204).end();
    return;
  }
  const content = stub.objects.get(key);
  if (content === undefined) {
    refuse(response, 404, 'NoSuchKey');
    return;
  }
  const putAtS = stub.putAtS.get(key);
  if (putAtS !== undefined) response.setHeader('last-modified', new Date(putAtS * 1000).toUTCString());
  give(fault === 'wrong bytes' ? Buffer.alloc(content.byteLength, 'x') : content, fault, asked.method, response);
}

async function put(stub: StubBucket, key: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const content = await buffer(request);
  const sent = request.headers['x-amz-checksum-sha256'];
  const sha256 = createHash('sha256').update(content).digest('base64');
  if (stub.knowsChecksums && sent !== sha256) {
    refuse(response, 400, 'BadDigest');
    return;
  }
  stub.objects.set(key, content);
  stub.putAtS.set(key, stub.requests.length);
  response.writeHead(200, stub.knowsChecksums ? { 'x-amz-checksum-sha256': sha256, ETag: tagOf(content) } : {}).end();
}

function give(content: Buffer, fault: BucketFault | null, method: string, response: ServerResponse): void {
  response.writeHead(200, { 'content-length': content.byteLength, ETag: tagOf(content) });
  if (method === 'HEAD') response.end();
  else if (fault === 'cut') response.write(content.subarray(0, content.byteLength / 2), () => response.destroy());
  else response.end(content);
}

function tagOf(content: Buffer): string {
  return `"${createHash('md5').update(content).digest('hex')}"`;
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code} of a stub</Message></Error>`);
}
