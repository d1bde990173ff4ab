import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Collector, type CollectedSpan } from './collector.js';
import { scrape } from './scrape.js';
import { startScriptedService, type ScriptedService } from './scriptedService.js';

const caller = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331' };
const traceparent = `00-${caller.trace_id}-${caller.span_id}-01`;

/** Each is a text that stands nowhere else. */
const secrets = {
  passage: 'Qworvix Telmarand',
  message: 'Zumbrel Oskanthe',
  tenant: 'tenant-vlimbrok',
  idempotency_key: 'usterpan-0001',
  collector_key: 'c0llector-4f1c9b',
};
/** The answer of the scripted model. */
const answer = 'Nobody knows.';

/** Tells at its end which modules were loaded; the SDK's are all CommonJS. */
const tellingModules = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    import { createRequire } from 'node:module';
    const { cache } = createRequire('/');
    process.on('exit', () => process.stderr.write('\\nLOADED ' + Object.keys(cache).join(' ') + '\\n'));
  `)}`,
];
const sdk = /node_modules\/@opentelemetry\/(?!api\/)[\w-]+/u;

function post(service: ScriptedService, target: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  return fetch(`${service.url}${target}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

describe('traces', () => {
  let collector: Collector;
  let service: ScriptedService;
  before(async () => {
    collector = await Collector.open();
    service = await startScriptedService(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${secrets.collector_key}`,
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=testing',
        OTEL_BSP_SCHEDULE_DELAY: '100',
      },
      tellingModules,
    );
  });
  after(async () => {
    await service.close();
    collector.close();
  });
  const childOf = (parent: CollectedSpan) => (span: CollectedSpan) =>
    span.traceId === parent.traceId && span.parentSpanId === parent.spanId;

  it('go from the request to the engine call, within the trace of the caller', async () => {
    const question = { model: 'model-5.3', messages: [{ role: 'user', content: secrets.message }] };
    const response = await post(service, '/v1/chat/completions', question, {
      traceparent,
      'idempotency-key': secrets.idempotency_key,
    });
    assert.ok((await response.text()).includes(answer));
    const request = await collector.span('POST /v1/chat/completions');
    assert.deepEqual([request.traceId, request.parentSpanId], [caller.trace_id, caller.span_id]);
    const job = await collector.span('job inference', childOf(request));
    await collector.span('engine generate', childOf(job));
  });

  it('have learning in a trace of its own, linked to the request that admitted it', async () => {
    const content = `${secrets.passage} has stones, and each of them has a name of its own.`;
    const body = { subject_id: 's', content, max_cost_microusd: 2_000_000, tenant_id: secrets.tenant };
    const receipt = await post(service, '/v1/internalizations', body, { 'idempotency-key': 'learning-0001' });
    assert.equal(receipt.status, 202);
    const request = await collector.span('POST /v1/internalizations');
    assert.equal(request.parentSpanId, undefined);
    const job = await collector.span('job internalization');
    assert.notEqual(job.traceId, request.traceId);
    assert.deepEqual(
      job.links.map(({ traceId, spanId }) => [traceId, spanId]),
      [[request.traceId, request.spanId]],
    );
    for (const phase of ['teaching', 'scoring', 'training', 'evaluating', 'saving', 'settling']) {
      await collector.span(`phase ${phase}`, childOf(job));
    }
    await collector.span('engine train', childOf(await collector.span('phase training')));
    await collector.span('engine score', childOf(await collector.span('phase scoring')));
  });

  it('have nothing of strangers, who could fill the collector', async () => {
    await post(service, '/v1/inferences', {}, { authorization: 'Bearer nobody', traceparent });
    await fetch(`${service.url}/unknown`, { headers: { traceparent } });
    const known = { authorization: `Bearer ${service.apiKey}` };
    await (await fetch(`${service.url}/v1/models`, { headers: known })).text();
    await collector.span('GET /v1/models');
    const statuses = collector.spans.flatMap(({ attributes }) =>
      attributes.filter(({ key }) => key === 'http.response.status_code').map(({ value }) => value['intValue']),
    );
    assert.ok(statuses.length > 0 && !statuses.map(String).includes('401'));
    assert.ok(!collector.spans.some(({ name }) => name.includes('unknown')));
  });

  it('stand beside the measurements, as exemplars', async () => {
    const { text } = await scrape(service.url, 'application/openmetrics-text');
    const exemplar = /^engraft_job_run_seconds_bucket\{.*kind="inference".*\} \d+ # \{trace_id="(\w+)"\}/mu.exec(text);
    assert.equal(exemplar?.[1], caller.trace_id);
    assert.match(text, /^engraft_http_request_duration_seconds_bucket\{.*\} \d+ # \{trace_id="\w{32}"\}/mu);
    assert.doesNotMatch((await scrape(service.url)).text, /trace_id/u);
  });

  it('hold no passage, message, answer, name of a tenant or key, and are all sent before the service ends', async () => {
    const models = collector.spans.filter(({ name }) => name === 'GET /v1/models').length;
    const known = { authorization: `Bearer ${service.apiKey}` };
    await (await fetch(`${service.url}/v1/models`, { headers: known })).text();
    assert.equal(await service.stop(), 0, service.log());
    assert.equal(collector.spans.filter(({ name }) => name === 'GET /v1/models').length, models + 1);
    const sent = collector.bodies.join('\n');
    assert.ok(sent.includes('engraft.job.id'));
    for (const hidden of [...Object.values(secrets), answer, service.apiKey]) {
      assert.ok(!sent.includes(hidden), hidden);
      assert.ok(!service.log().includes(hidden), hidden);
    }
    assert.ok(collector.headers.every((headers) => headers['x-collector-key'] === secrets.collector_key));
    assert.ok(collector.resources.every((resource) => resource.includes('"engraft"') && resource.includes('testing')));
    assert.match(service.log(), sdk);
  });
});

describe('a service that nobody has told to take traces', () => {
  it("loads nothing of OpenTelemetry's SDK", async () => {
    const service = await startScriptedService({ OTEL_SERVICE_NAME: 'named-for-others' }, tellingModules);
    try {
      const { id } = await service.client.inferences.create({
        subject_id: 's',
        messages: [{ role: 'user', content: 'Hello?' }],
      });
      await service.client.jobs.wait(id);
      assert.equal(await service.stop(), 0, service.log());
      assert.match(service.log(), /LOADED .*prom-client/u);
      assert.doesNotMatch(service.log(), sdk);
    } finally {
      await service.close();
    }
  });
});

describe('a collector that says nothing', () => {
  it('holds up neither answers nor the stop', async () => {
    // A fault injector.
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const service = await startScriptedService({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
    try {
      const question = { model: 'model-5.3', messages: [{ role: 'user', content: 'Hello?' }] };
      assert.equal((await post(service, '/v1/chat/completions', question)).status, 200);
      assert.equal(await service.stop(), 0, service.log());
    } finally {
      await service.close();
      silent.close();
      silent.closeAllConnections();
    }
  });
});
