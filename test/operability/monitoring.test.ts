import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { z } from 'zod';
import { readExpression } from './promql.js';
import { scrape, type Scrape } from './scrape.js';
import { startScriptedService, type ScriptedService } from './scriptedService.js';

const docs = path.resolve(import.meta.dirname, '../../../docs/operating');
const monitoring = path.join(docs, 'monitoring');
const run = promisify(execFile);

const rule = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
  annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
});
const ruleFile = z.strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule) })) });
const panel = z.looseObject({ title: z.string(), targets: z.array(z.looseObject({ expr: z.string() })).optional() });
const dashboard = z.looseObject({
  panels: z.array(panel),
  templating: z.looseObject({ list: z.array(z.looseObject({ definition: z.string().optional() })) }),
});

async function readRules(): Promise<readonly z.infer<typeof rule>[]> {
  const file = ruleFile.parse(parse(await readFile(path.join(monitoring, 'prometheus-alerts.yml'), 'utf8')));
  return file.groups.flatMap(({ rules }) => rules);
}

/** Where it stands, and what it is. */
async function readExpressions(): Promise<readonly (readonly [string, string])[]> {
  const file = await readFile(path.join(monitoring, 'grafana-dashboard.json'), 'utf8');
  const { panels, templating } = dashboard.parse(JSON.parse(file));
  const variables = templating.list.flatMap(({ definition }) => {
    const metric = /^label_values\((\w+), instance\)$/u.exec(definition ?? '')?.[1];
    return metric === undefined ? [] : [['a variable', metric] as const];
  });
  return [
    ...variables,
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
    ...(await readRules()).map(({ alert, expr }) => [alert, expr] as const),
  ];
}

/** Those that Prometheus adds. */
const addedLabels = ['instance', 'job'];
const addedMetrics = ['up'];

describe('what watches the service', () => {
  let service: ScriptedService;
  let found: Scrape;
  before(async () => {
    service = await startScriptedService();
    const { client } = service;
    const asked = await client.inferences.create({ subject_id: 's', messages: [{ role: 'user', content: 'Hello?' }] });
    const learned = await client.internalizations.create({
      subject_id: 's',
      content: 'There are stones, and each of them has a name of its own.',
      max_cost_microusd: 2_000_000,
    });
    for (const { id } of [asked, learned]) await client.jobs.wait(id);
    // Observed once the worker has come back from its commit; a scrape is kept for a second.
    for (let tries = 0; ; tries += 1) {
      found = await scrape(service.url);
      if (found.series.has('engraft_learning_phase_seconds_count') || tries === 30) break;
      await sleep(1_100);
    }
  });
  after(() => service.close());

  it('names no metric and no label, in dashboard and alerts, that a real scrape has not got', async () => {
    const expressions = await readExpressions();
    assert.ok(expressions.length > 40);
    for (const [where, expression] of expressions) {
      const { selectors, groupings } = readExpression(expression);
      assert.ok(selectors.length > 0, where);
      const known = new Set(addedLabels);
      for (const { metric, labels } of selectors) {
        if (addedMetrics.includes(metric)) continue;
        const itsLabels = found.series.get(metric);
        assert.ok(itsLabels !== undefined, `${where}: there is no metric ${metric}`);
        for (const label of itsLabels) known.add(label);
        for (const label of labels) {
          assert.ok(itsLabels.has(label) || addedLabels.includes(label), `${where}: ${metric} has no label ${label}`);
        }
      }
      for (const label of groupings) assert.ok(known.has(label), `${where}: there is no label ${label}`);
    }
  });

  it('shows every metric of ours on the dashboard or in an alert', async () => {
    const named = (await readExpressions()).flatMap(([, expression]) =>
      readExpression(expression).selectors.map(({ metric }) => metric.replace(/_(?:bucket|count|sum)$/u, '')),
    );
    const ours = [...found.text.matchAll(/^# TYPE (engraft_\w+) /gmu)].map(([, name = '']) => name);
    assert.ok(ours.length > 20);
    assert.deepEqual(
      ours.filter((name) => !named.includes(name)),
      [],
    );
  });

  it('counts a learning job: its phases, its tokens, and nothing repeated', () => {
    for (const phase of ['teaching', 'scoring', 'training', 'evaluating', 'saving', 'settling']) {
      const series = `engraft_learning_phase_seconds_count{phase="${phase}",outcome="done"} 1`;
      assert.ok(found.text.includes(series), series);
    }
    const tokens = (name: string, labels: string): number =>
      Number(new RegExp(`^${name}\\{${labels}\\} (\\d+)$`, 'mu').exec(found.text)?.[1]);
    for (const type of ['input', 'output', 'training']) {
      const done = tokens('engraft_engine_tokens_total', `kind="internalization",type="${type}"`);
      const charged = tokens('engraft_charged_tokens_total', `kind="internalization",type="${type}"`);
      assert.equal(done, charged, type);
    }
    assert.ok(tokens('engraft_charged_tokens_total', 'kind="internalization",type="training"') > 0);
    const uncharged = [...found.text.matchAll(/^engraft_uncharged_tokens_total\{.*\} (\d+)$/gmu)];
    assert.ok(uncharged.length > 0 && uncharged.every(([, count]) => count === '0'));
  });

  it('has OpenMetrics for who asks for it, and the same metrics as before for everybody else', async () => {
    const open = await scrape(service.url, 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5');
    assert.match(open.content_type, /^application\/openmetrics-text/u);
    assert.ok(open.text.endsWith('\n# EOF\n'));
    assert.match(open.text, /^# TYPE engraft_job_runs counter$/mu);
    const again = await scrape(service.url);
    assert.match(again.content_type, /^text\/plain/u);
    // These have a line for each kind that is under way at that moment, and none when nothing is.
    const momentary = /^nodejs_active_(?:handles|requests|resources)$/u;
    const namesOf = ({ series }: typeof found) => [...series.keys()].filter((name) => !momentary.test(name)).sort();
    assert.deepEqual(namesOf(again), namesOf(found));
    assert.deepEqual(namesOf(open), namesOf(found));
    assert.doesNotMatch(open.text, /trace_id/u, 'no traces are taken');
  });

  it('is understood by promtool, where there is one', async (t) => {
    const promtool = process.env['ENGRAFT_TEST_PROMTOOL'] ?? 'promtool';
    const isThere = await run(promtool, ['--version']).then(
      () => true,
      () => false,
    );
    if (!isThere) {
      t.skip('promtool is not installed: the alerts were read as YAML and PromQL, and not played through');
      return;
    }
    await run(promtool, ['check', 'rules', 'prometheus-alerts.yml'], { cwd: monitoring });
    await run(promtool, ['test', 'rules', 'prometheus-alerts.test.yml'], { cwd: monitoring });
    const folder = await mkdtemp(path.join(tmpdir(), 'engraft-scrape-'));
    await writeFile(path.join(folder, 'metrics'), found.text);
    // Exit code 3 is its opinion of names; what it cannot read is 1.
    await run('sh', ['-c', `"$0" check metrics < "$1"; test $? -ne 1`, promtool, path.join(folder, 'metrics')]);
    await rm(folder, { recursive: true });
  });
});

describe('the page on alerts', () => {
  it('has a section for every alert, and none for what is no alert: what it means, where to look, what to do', async () => {
    const rules = await readRules();
    const [, ...sections] = (await readFile(path.join(docs, 'alerts.md'), 'utf8')).split(/^## /mu);
    const titles = sections.map((section) => section.split('\n', 1)[0]);
    assert.deepEqual(
      titles,
      rules.map(({ alert }) => alert),
    );
    for (const section of sections) {
      for (const part of ['**Means**', '**Look**', '**Do**'])
        assert.ok(section.includes(part), `${part} of ${section}`);
    }
    for (const { alert, annotations } of rules) {
      assert.equal(annotations.runbook, `docs/operating/alerts.md#${alert.toLowerCase()}`);
    }
  });
});
