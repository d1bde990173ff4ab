import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EngraftClient } from '../client.js';

export interface SeenRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Reply = (response: ServerResponse) => void;

/** A server with replies that a test chooses. It notes the requests. */
export class CannedServer {
  seen: SeenRequest[] = [];
  /** The address of the server that serves now. */
  url = '';
  #server: Server | null = null;

  /** Answers the n-th request with the n-th reply, and all later ones with the last. Returns a client of it. */
  async serve(...replies: readonly Reply[]): Promise<EngraftClient> {
    this.close();
    const seen: SeenRequest[] = [];
    this.seen = seen;
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push({ method: request.method, path: request.url, headers: request.headers, body });
        (replies[seen.length - 1] ?? replies.at(-1) ?? hangUp)(response);
      });
    });
    this.#server = server;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}/`;
    return new EngraftClient({ baseUrl: this.url, apiKey: 'secret' });
  }

  close(): void {
    this.#server?.close();
    // Some replies never come.
    this.#server?.closeAllConnections();
  }
}

export function reply(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export function hangUp(response: ServerResponse): void {
  response.socket?.destroy();
}

/** The body of an error of the service. */
export function failure(code: string, extra: object = {}): object {
  return { error: { code, retryable: false, request_id: 'req_1', ...extra } };
}
