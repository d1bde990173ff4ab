// `npm run bench -- NAME [options]`: runs bench/NAME.mjs, which prints its figures and keeps them in bench/results.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';

requireNode();
const [name, ...args] = process.argv.slice(2);
const available = readdirSync(join(root, 'bench'))
  // The others are run by themselves.
  .filter((file) => file.endsWith('.mjs') && readFileSync(join(root, 'bench', file), 'utf8').includes('export default'))
  .map((file) => file.slice(0, -'.mjs'.length));
if (!available.includes(name)) {
  console.error(`usage: npm run bench -- NAME, where NAME is one of: ${available.join(', ')}`);
  process.exit(2);
}
await ensureInstalled();
await ensureBuilt();
const { default: bench } = await import(pathToFileURL(join(root, 'bench', `${name}.mjs`)).href);
await bench(args);
