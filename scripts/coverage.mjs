// `npm run coverage:api`: writes docs/api/coverage.md, which names the tests of every rule of the API's contract.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';

requireNode();
await ensureInstalled();
await ensureBuilt();
const { findCoverage, renderCoverage } = await import(
  pathToFileURL(join(root, 'test/dist/conformance/coverage.js')).href
);
const coverage = await findCoverage();
mkdirSync(join(root, 'docs/api'), { recursive: true });
writeFileSync(join(root, 'docs/api/coverage.md'), renderCoverage(coverage));
const missing = coverage.rows.filter(({ tests }) => tests.length === 0);
for (const { rule } of missing) console.error(`no test: ${rule.id}: ${rule.sentence}`);
for (const title of coverage.unknownTitles) console.error(`no test has the title: ${title}`);
console.log(`${coverage.rows.length} rules, ${coverage.rows.length - missing.length} with a test`);
if (missing.length + coverage.unknownTitles.length > 0) process.exitCode = 1;
