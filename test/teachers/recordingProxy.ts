import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

/** The usage that a server states of its answer. */
export type SaidUsage = z.infer<typeof answer>['usage'];

const answer = z.object({
  usage: z.object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    prompt_tokens_details: z.object({ cached_tokens: z.int().nullish() }).nullish(),
  }),
});

export interface RecordingProxy {
  /** Base address, which ends in `/v1`. */
  readonly url: string;
  /** The usage of the answers so far. */
  readonly said: SaidUsage[];
  stop(): Promise<void>;
}

/** Hands requests on to the server at `baseUrl`, and remembers the usage of its answers. */
export async function startRecordingProxy(baseUrl: string): Promise<RecordingProxy> {
  const said: SaidUsage[] = [];
  const forward = async (message: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const { authorization } = message.headers;
    const headers = { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) };
    const address = baseUrl + (message.url ?? '').slice('/v1'.length);
    const { status, body } = await post(address, headers, await text(message));
    if (status === 200) said.push(answer.parse(JSON.parse(body)).usage);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
  const server = http.createServer((message, response) => {
    // Broken off here as it broke off there.
    forward(message, response).catch(() => response.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    said,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** `fetch` would give up after five minutes, before the service does. */
async function post(url: string, headers: http.OutgoingHttpHeaders, sent: string) {
  const { request } = url.startsWith('https:') ? https : http;
  const asked = request(url, { method: 'POST', headers }).end(sent);
  const [answered] = (await once(asked, 'response')) as [http.IncomingMessage];
  return { status: answered.statusCode ?? 502, body: await text(answered) };
}
