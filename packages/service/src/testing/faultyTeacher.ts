import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

export interface TeacherRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly model: string;
  readonly max_tokens: number;
  /** The contents of the messages, joined. */
  readonly asked: string;
  /** The body as it was sent. */
  readonly body: string;
}

export type TeacherReply = (response: http.ServerResponse, request: TeacherRequest) => void;

export interface FaultyTeacher {
  /** Base address, which ends in `/v1`. */
  readonly url: string;
  readonly requests: TeacherRequest[];
  /** The reply to every call from now on. */
  reply: TeacherReply;
  stop(): Promise<void>;
}

const bodySchema = z.strictObject({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  max_tokens: z.int(),
  temperature: z.number(),
  stream: z.literal(false),
});

/** A fault injector: a chat server on a real socket that treats each request as a test says. */
export async function startFaultyTeacher(reply: TeacherReply): Promise<FaultyTeacher> {
  const requests: TeacherRequest[] = [];
  const server = http.createServer((message, response) => {
    // A caller that dies within its request has asked for nothing.
    void text(message).then(
      (body) => {
        const { model, max_tokens, messages } = bodySchema.parse(JSON.parse(body));
        const asked = messages.map(({ content }) => content).join('\n');
        const { authorization } = message.headers;
        const request = { path: message.url ?? '', authorization, model, max_tokens, asked, body };
        requests.push(request);
        teacher.reply(response, request);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const teacher: FaultyTeacher = {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    reply,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return teacher;
}

export const honestUsage = { prompt_tokens: 120, completion_tokens: 40, total_tokens: 160 };

/** A whole answer. A usage of `null` is left out. */
export function answerWith(content: string, usage: object | null = honestUsage): TeacherReply {
  return (response) => {
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices, ...(usage === null ? {} : { usage }) }));
  };
}

export function refuseWith(status: number, headers: Readonly<Record<string, string>> = {}): TeacherReply {
  return (response) => response.writeHead(status, headers).end('{"error": "a secret of the server"}');
}

/** Half of an answer, after which the connection breaks. */
export const dieInTheMiddle: TeacherReply = (response) => {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{"choices": [');
  setTimeout(() => response.destroy(), 20);
};
