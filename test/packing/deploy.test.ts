/** The files of `deploy/`, as text: no container is started. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { root } from '../docs/markdown.js';

const environment = z.record(z.string(), z.string());
const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      command: z.union([z.string(), z.array(z.string())]).optional(),
      environment: environment.optional(),
      depends_on: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).optional(),
      volumes: z.array(z.string()).optional(),
      deploy: z.object({ replicas: z.int().optional() }).optional(),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
});

describe('the files to deploy with', () => {
  let compose: z.output<typeof composeSchema>;
  let composeText: string;
  let dockerfile: string;
  before(async () => {
    composeText = await readFile(path.join(root, 'deploy', 'compose.yaml'), 'utf8');
    compose = composeSchema.parse(parse(composeText, { merge: true }));
    dockerfile = await readFile(path.join(root, 'deploy', 'Dockerfile'), 'utf8');
  });

  test('name only variables that the guide explains', async () => {
    const guide = await readFile(path.join(root, 'docs', 'operating', 'README.md'), 'utf8');
    const named = new Set(`${composeText}\n${dockerfile}`.match(/\bENGRAFT_[A-Z_]+\b/g));
    assert.ok(named.size > 5);
    for (const name of named) assert.ok(guide.includes(`\`${name}\``), name);
  });

  test('refer to services and volumes that are there', () => {
    for (const [name, { depends_on: needed = [], volumes = [] }] of Object.entries(compose.services)) {
      for (const each of Array.isArray(needed) ? needed : Object.keys(needed))
        assert.ok(each in compose.services, name);
      for (const each of volumes) assert.ok((each.split(':')[0] ?? '') in compose.volumes, `${name}: ${each}`);
    }
    assert.equal(compose.services['api']?.deploy?.replicas, 2);
  });

  test('give the servers and the service the same settings', () => {
    const flags = String(compose.services['vllm']?.command);
    const names = Number(compose.services['worker']?.environment?.['ENGRAFT_VLLM_ADAPTERS']);
    assert.ok(Number(/--max-cpu-loras (\d+)/.exec(flags)?.[1]) >= names);
    for (const flag of ['--enable-lora', '--enable-prompt-tokens-details', '--lora-target-modules']) {
      assert.ok(flags.includes(flag), flag);
    }
    const shared = compose.services['worker']?.environment?.['ENGRAFT_VLLM_ADAPTER_DIR'] ?? '';
    for (const name of ['worker', 'vllm']) {
      assert.ok(
        compose.services[name]?.volumes?.some((volume) => volume.split(':')[1] === shared),
        name,
      );
    }
  });

  test('hold no password', () => {
    for (const [, value = ''] of composeText.matchAll(/(?:PASSWORD|SECRET\w*): '?([^\s']+)/g)) {
      assert.match(value, /^\$\{\w+:\?\}$/);
    }
  });

  test('run as nobody in particular, with a health check', () => {
    const users = [...dockerfile.matchAll(/^USER (\S+)$/gm)].map(([, user]) => user);
    assert.deepEqual(users, ['1000:1000']);
    const [, ...afterUser] = dockerfile.split(/^USER /m);
    assert.doesNotMatch(afterUser.join(''), /^(?:RUN|COPY) /m);
    assert.match(dockerfile, /^HEALTHCHECK .*\\\n {2}CMD \[/m);
    assert.equal(dockerfile.match(/^FROM /gm)?.length, 2);
  });
});
