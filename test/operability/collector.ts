import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** The part of OTLP's JSON that is looked at: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
const attribute = z.looseObject({ key: z.string(), value: z.looseObject({}) });
const span = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: z.array(attribute).default([]),
  links: z.array(z.looseObject({ traceId: z.string(), spanId: z.string() })).default([]),
  status: z.looseObject({ code: z.number().optional() }).default({}),
});
const exportRequest = z.looseObject({
  resourceSpans: z.array(
    z.looseObject({
      resource: z.looseObject({ attributes: z.array(attribute) }),
      scopeSpans: z.array(z.looseObject({ spans: z.array(span) })),
    }),
  ),
});

export type CollectedSpan = z.infer<typeof span>;

/** A small OTLP/HTTP receiver, as a collector is one. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  /** Every body as it came. */
  readonly bodies: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  readonly resources: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<Collector> {
    const collector = new Collector(
      createServer((request, response) => {
        // A caller that dies within its request has asked for nothing.
        void text(request).then(
          (body) => {
            collector.#receive(request.url ?? '', request.headers, body);
            response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
          },
          () => response.destroy(),
        );
      }).listen(0, '127.0.0.1'),
    );
    await once(collector.#server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The first span that fits, when it has come. */
  async span(name: string, fits: (span: CollectedSpan) => boolean = () => true): Promise<CollectedSpan> {
    for (let tries = 0; tries < 1_200; tries += 1) {
      const found = this.spans.find((each) => each.name === name && fits(each));
      if (found !== undefined) return found;
      await sleep(50);
    }
    throw new Error(`no span ${name} came, of ${this.spans.map((each) => each.name).join(', ')}`);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #receive(path: string, headers: IncomingHttpHeaders, body: string): void {
    if (path !== '/v1/traces') return;
    this.bodies.push(body);
    this.headers.push(headers);
    for (const { resource, scopeSpans } of exportRequest.parse(JSON.parse(body)).resourceSpans) {
      this.resources.push(JSON.stringify(resource));
      this.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
    }
  }
}
