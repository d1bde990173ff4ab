/** The Helm chart: its text everywhere, and what helm makes of it where there is one. No cluster is asked. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { root } from '../docs/markdown.js';

const run = promisify(execFile);
const chart = path.join(root, 'deploy', 'helm', 'engraft');
const helm = process.env['ENGRAFT_TEST_HELM'] ?? 'helm';

const labels = z.record(z.string(), z.string());
const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const container = z.object({
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
});
const deployment = z.object({
  kind: z.literal('Deployment'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.int().optional(),
    selector: z.object({ matchLabels: labels }),
    template: z.object({
      metadata: z.object({ labels }),
      spec: z.object({ terminationGracePeriodSeconds: z.int(), containers: z.tuple([container]) }),
    }),
  }),
});
const budget = z.object({
  kind: z.literal('PodDisruptionBudget'),
  spec: z.object({ maxUnavailable: z.int(), selector: z.object({ matchLabels: labels }) }),
});
const scaler = z.object({
  kind: z.literal('HorizontalPodAutoscaler'),
  spec: z.object({
    scaleTargetRef: z.object({ name: z.string() }),
    metrics: z.array(
      z.object({ external: z.object({ metric: z.object({ name: z.string() }) }).optional(), type: z.string() }),
    ),
  }),
});

async function render(...settings: readonly string[]): Promise<readonly unknown[]> {
  const flags = settings.flatMap((setting) => ['--set', setting]);
  const { stdout } = await run(helm, ['template', 'test', chart, ...flags]);
  return parseAllDocuments(stdout).map((document) => {
    const value: unknown = document.toJS();
    return value;
  });
}

function only<Shape>(schema: z.ZodType<Shape>, documents: readonly unknown[]): readonly Shape[] {
  return documents.flatMap((document) => {
    const read = schema.safeParse(document);
    return read.success ? [read.data] : [];
  });
}

async function isThere(t: TestContext): Promise<boolean> {
  const found = await run(helm, ['version']).then(
    () => true,
    () => false,
  );
  if (!found) t.skip('helm is not installed: `npm run test:helm` takes one from npm');
  return found;
}

describe('the Helm chart', () => {
  test('has the version of the packages, and names only variables that the guide explains', async () => {
    const versions = z.object({ version: z.string(), appVersion: z.string() });
    const { version, appVersion } = versions.parse(parse(await readFile(path.join(chart, 'Chart.yaml'), 'utf8')));
    const packed: unknown = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
    const current = z.object({ version: z.string() }).parse(packed).version;
    assert.deepEqual([version, appVersion], [current, current]);
    const guide = await readFile(path.join(root, 'docs', 'operating', 'README.md'), 'utf8');
    const files = (await readdir(path.join(chart, 'templates'))).map((file) => path.join('templates', file));
    for (const file of ['values.yaml', ...files]) {
      const text = await readFile(path.join(chart, file), 'utf8');
      for (const name of text.match(/\bENGRAFT_[A-Z_]+\b/g) ?? []) assert.ok(guide.includes(`\`${name}\``), name);
    }
  });

  test('is linted and rendered by helm, where there is one', async (t) => {
    if (!(await isThere(t))) return;
    await run(helm, ['lint', '--strict', chart]);
    const fixed = await render();
    assert.equal(only(scaler, fixed).length, 0);
    assert.deepEqual(
      only(deployment, fixed).map(({ spec }) => spec.replicas),
      [2, 2],
    );
    const scaled = await render(
      ...['api', 'worker'].map((part) => `${part}.autoscaling.enabled=true`),
      'worker.environment.ENGRAFT_ADAPTER_STORE=s3://another',
    );
    const parts = only(deployment, scaled);
    for (const { metadata, spec } of parts) {
      assert.equal(spec.replicas, undefined, 'the autoscaler has it');
      const pod = spec.template;
      const [{ args, ports, ...each }] = pod.spec.containers;
      assert.ok(pod.spec.terminationGracePeriodSeconds >= 30);
      assert.deepEqual(args, [metadata.name.replace('test-', '')]);
      for (const { httpGet } of [each.startupProbe, each.livenessProbe, each.readinessProbe]) {
        assert.ok(ports.some(({ name, containerPort }) => name === httpGet.port && containerPort === 9090));
      }
      assert.equal(each.readinessProbe.httpGet.path, '/readyz');
      const matched = (wanted: Record<string, string>): boolean =>
        Object.entries(wanted).every(([name, value]) => pod.metadata.labels[name] === value);
      assert.ok(matched(spec.selector.matchLabels));
      const budgets = only(budget, scaled).filter((one) => matched(one.spec.selector.matchLabels));
      assert.deepEqual(
        budgets.map((one) => one.spec.maxUnavailable),
        [1],
      );
      assert.equal(only(scaler, scaled).filter((one) => one.spec.scaleTargetRef.name === metadata.name).length, 1);
    }
    const stores = parts.map(({ spec }) => spec.template.spec.containers[0].env[0]?.value);
    assert.deepEqual(stores.sort(), ['s3://another', 's3://engraft'], 'a worker may have values of its own');
    const metrics = only(scaler, scaled).flatMap(({ spec }) =>
      spec.metrics.map(({ external }) => external?.metric.name),
    );
    const names = new Set(metrics.filter((name) => name !== undefined));
    const source = path.join(root, 'packages', 'service', 'src', 'metrics', 'queueMetrics.ts');
    assert.ok(names.size > 0);
    for (const name of names) assert.ok((await readFile(source, 'utf8')).includes(`'${name}'`), name);
  });

  test('gives both parts a checkpoint of their own, and numbers of a file as they stand there', async (t) => {
    if (!(await isThere(t))) return;
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-chart-'));
    t.after(() => rm(folder, { recursive: true }));
    const values = path.join(folder, 'values.yaml');
    const mounts = {
      volumes: [{ name: 'model', emptyDir: {} }],
      volumeMounts: [{ name: 'model', mountPath: '/model' }],
    };
    const environment = { ENGRAFT_CACHE_BYTES: 20_000_000_000, ENGRAFT_MODEL_DIR: '/model' };
    await writeFile(values, JSON.stringify({ environment, api: mounts, worker: mounts }));
    const { stdout } = await run(helm, ['template', 'test', chart, '--values', values]);
    assert.equal(stdout.match(/value: "20000000000"/g)?.length, 2);
    assert.equal(stdout.match(/mountPath: \/model/g)?.length, 2);
    assert.equal(stdout.match(/name: model$/gm)?.length, 4);
  });

  test('makes a release of one worker with trainers of its own, as the guide has it', async (t) => {
    if (!(await isThere(t))) return;
    const guide = await readFile(path.join(root, 'docs', 'operating', 'growing.md'), 'utf8');
    const [, command = ''] = /helm install engraft-trainers-1 ([^]*?)```/.exec(guide) ?? [];
    const settings = [...command.matchAll(/--set (?:'([^']+)'|(\S+))/g)].map(
      ([, quoted, plain]) => quoted ?? plain ?? '',
    );
    const parts = only(deployment, await render(...settings)).map(({ metadata, spec }) => ({
      name: metadata.name,
      replicas: spec.replicas,
      trainers: spec.template.spec.containers[0].env.find(({ name }) => name === 'ENGRAFT_TRAINER_URL')?.value,
    }));
    assert.deepEqual(parts, [
      { name: 'test-api', replicas: 0, trainers: undefined },
      { name: 'test-worker', replicas: 1, trainers: 'http://10.0.0.9:8090,http://10.0.0.10:8090' },
    ]);
  });
});
