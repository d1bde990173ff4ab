// `npm run bench -- NAME [options]`: runs bench/NAME.mjs, which prints its figures and keeps them in bench/results.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';

requireNode();
const [name, ...args] = process.argv.slice(2);
const available = readdirSync(join(root, 'bench'))
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -'.mjs'.length));
const file = join(root, 'bench', `${name}.mjs`);
if (name === undefined || !existsSync(file)) {
  console.error(`usage: npm run bench -- NAME, where NAME is one of: ${available.join(', ')}`);
  process.exit(2);
}
await ensureInstalled();
await ensureBuilt();
const { default: bench } = await import(pathToFileURL(file).href);
await bench(args);
