import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { withMetadata } from '../http/wire.js';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
}

/** Answers a request otherwise and returns true, or leaves it to the usual answer. */
export type Fault = (response: http.ServerResponse, request: SeenRequest) => boolean;

export interface FaultyTrainer {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** The session that is open. */
  session: string | null;
  fault: Fault;
  stop(): Promise<void>;
}

/** Refuses, as a trainer does. */
export function refuse(response: http.ServerResponse, status: number, code: string): true {
  response.writeHead(status).end(JSON.stringify(refusalOf(code)));
  return true;
}

function refusalOf(code: string): unknown {
  return { error: { code, message: `a fault: ${code}` } };
}

const header = z.object({ __metadata__: z.object({ session: z.string() }) }).loose();
const id = '0123456789abcdef0123456789abcdef';

/**
 * A fault injector: answers as `trainers/peft` does until a test says otherwise. It computes nothing: every loss is 1,
 * and the matrices stay as they came.
 */
export async function startFaultyTrainer(
  model: string,
  { leaseSeconds = 60, maxStateBytes = 2 ** 30 }: { leaseSeconds?: number; maxStateBytes?: number } = {},
): Promise<FaultyTrainer> {
  const requests: SeenRequest[] = [];
  let state: Uint8Array = new Uint8Array();
  let steps = 0;
  const server = http.createServer((message, response) => {
    // A caller that dies within its request has asked for nothing.
    void buffer(message).then(
      (body) => {
        const request = { method: message.method ?? '', path: message.url ?? '', body };
        requests.push(request);
        if (faulty.fault(response, request)) return;
        const [status, content] = answerTo(request);
        response.writeHead(status).end(content instanceof Uint8Array ? content : JSON.stringify(content));
      },
      () => response.destroy(),
    );
  });
  const answerTo = ({ method, path, body }: SeenRequest): readonly [number, unknown] => {
    if (path === '/') return [200, descriptionOf(model, faulty.session !== null, maxStateBytes)];
    if (path === '/sessions') {
      if (faulty.session !== null) return [409, refusalOf('busy')];
      faulty.session = id;
      state = body;
      steps = 0;
      return [201, { id, lease_seconds: leaseSeconds }];
    }
    if (faulty.session === null) return [404, refusalOf('session_lost')];
    if (method === 'DELETE') faulty.session = null;
    if (path.endsWith('/step')) return [200, { loss: 1, gradient_norm: 1, steps: (steps += 1) }];
    if (path.endsWith('/evaluate')) return [200, { loss: 1 }];
    return [200, path.endsWith('/state') ? withMetadata(state, { steps: String(steps) }) : {}];
  };
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const faulty: FaultyTrainer = {
    url: `http://127.0.0.1:${port}`,
    requests,
    session: null,
    fault: () => false,
    stop: async () => {
      const stopped = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await stopped;
    },
  };
  return faulty;
}

/** The options that opened a session. */
export function sessionOf({ body }: SeenRequest): unknown {
  const text = body.toString('utf8', 8, 8 + Number(body.readBigUInt64LE(0)));
  return JSON.parse(header.parse(JSON.parse(text)).__metadata__.session);
}

function descriptionOf(model: string, busy: boolean, maxStateBytes: number): unknown {
  return {
    trainer: 'peft',
    protocol: 1,
    busy,
    model,
    processes: 1,
    dtype: 'float32',
    max_run_tokens: 512,
    max_run_logits: 2 ** 25,
    max_state_bytes: maxStateBytes,
  };
}
