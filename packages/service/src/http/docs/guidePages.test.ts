import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { request as startRequest, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { buildOperationsApp } from '../buildApp.js';

const docs = fileURLToPath(new URL('../../../../../docs', import.meta.url));
/** The Markdown of the guide, such as `operating/README.md`. */
const sources = readdirSync(docs, { recursive: true })
  .map((file) => String(file).split(path.sep).join('/'))
  .filter((file) => file.endsWith('.md') && !file.startsWith('api/'));

let app: FastifyInstance;
let origin: URL;
before(async () => {
  app = buildOperationsApp({
    model_id: 'model-5.3',
    hasApi: true,
    readiness: () => Promise.resolve([]),
    logger: pino({ level: 'silent' }),
    metrics: new Registry(),
  });
  origin = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
});
after(() => app.close());

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** The path goes over the wire as it is written here: `fetch` would resolve its dots. */
async function get(target: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const sent = startRequest({ host: origin.hostname, port: origin.port, path: target, headers });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  const body = response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
  return { status: response.statusCode ?? 0, headers: response.headers, body: body.toString() };
}

function addressOf(source: string): string {
  const name = source.replace(/(^|\/)README\.md$/, '').replace(/\.md$/, '');
  return name === '' ? '/docs/guide' : `/docs/guide/${name}`;
}

function attributes(html: string, name: string): string[] {
  return [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&#38;', '&'),
  );
}

describe('the guide', () => {
  test('every page is served, with the title that its Markdown has', async () => {
    assert.ok(sources.length > 20);
    for (const source of sources) {
      const { status, headers, body } = await get(addressOf(source));
      assert.equal(status, 200, source);
      assert.equal(headers['content-type'], 'text/html; charset=utf-8');
      const [, title = ''] = /^# (.*)$/m.exec(readFileSync(path.join(docs, source), 'utf8')) ?? [];
      assert.match(body, /<h1 id="[^"]+">/, source);
      assert.ok(body.includes(`<title>${title.replaceAll('`', '')} · Engraft</title>`), source);
    }
  });

  test('every link leads to a page that is served, and to a place on it', async () => {
    const pages = new Map<string, Promise<Answer>>();
    const page = (address: string): Promise<Answer> => {
      const known = pages.get(address) ?? get(address);
      pages.set(address, known);
      return known;
    };
    let followed = 0;
    for (const source of sources) {
      const { body } = await page(addressOf(source));
      for (const link of attributes(body, 'href').filter((href) => !/^https?:/.test(href))) {
        const { pathname, hash } = new URL(link, new URL(addressOf(source), origin));
        const target = await page(pathname);
        assert.equal(target.status, 200, `${source} → ${link}`);
        const anchor = decodeURIComponent(hash.slice(1));
        if (anchor !== '') assert.ok(attributes(target.body, 'id').includes(anchor), `${source} → ${link}`);
        followed += 1;
      }
    }
    assert.ok(followed > 300);
  });

  test('every page is linked from the first one, or from the first of its folder', async () => {
    const linked = new Set<string>();
    for (const address of ['/docs/guide', '/docs/guide/experiments'])
      for (const href of attributes((await get(address)).body, 'href')) linked.add(href);
    assert.deepEqual(
      sources.map(addressOf).filter((address) => !linked.has(address)),
      [],
    );
  });

  test('a page loads its style sheet and pictures from here, and no script at all', async () => {
    for (const source of sources) {
      const { headers, body } = await get(addressOf(source));
      assert.doesNotMatch(body, /<script|<iframe|<object|<embed|<base| style=| on\w+="/, source);
      const loaded = [...attributes(body, 'src'), ...attributes(body.replaceAll(/<a [^>]*>/g, ''), 'href')];
      assert.deepEqual(
        [...new Set(loaded)].filter((address) => !address.startsWith('/docs/guide/')),
        [],
        source,
      );
      for (const address of loaded) assert.equal((await get(address)).status, 200, address);
      const policy = String(headers['content-security-policy']);
      assert.match(policy, /^default-src 'none'; style-src 'self'; img-src 'self'; /);
      assert.equal(headers['x-content-type-options'], 'nosniff');
    }
    assert.doesNotMatch((await get('/docs/guide/style.css')).body, /url\(|@import/);
  });

  test('the reference and the guide lead to each other', async () => {
    assert.ok(attributes((await get('/docs')).body, 'href').includes('/docs/guide'));
    assert.ok(attributes((await get('/docs/guide')).body, 'href').includes('/docs'));
  });

  test('no path leads out of the folder', async () => {
    const outside = ['package.json', 'src/index.ts', 'dist/index.js', 'dist/http/docs/style.js'];
    const ways = ['../', '../../', '../../../', '%2e%2e/', '%2e%2e%2f', '..%2f..%2f', '..%5c', '....//', '/', '%2f'];
    for (const way of ways)
      for (const file of outside) {
        const { status, body } = await get(`/docs/guide/${way}${file}`);
        assert.equal(status, 404, way + file);
        assert.doesNotMatch(body, /engraft-monorepo|@engraft|export/);
      }
    for (const odd of ['/docs/guide/%00', '/docs/guide/operating%00.html', '/docs/guide/none', '/docs/guide/__proto__'])
      assert.equal((await get(odd)).status, 404, odd);
  });

  test('a browser gets it compressed, and the same', async () => {
    const plain = await get('/docs/guide/models');
    const packed = await get('/docs/guide/models', { 'accept-encoding': 'gzip' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.equal(packed.body, plain.body);
  });
});
