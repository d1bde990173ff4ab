// `npm run openapi`: writes the description of the API, openapi.json, from the schemas that validate.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';

requireNode();
await ensureInstalled();
await ensureBuilt();
const contract = await import(pathToFileURL(join(root, 'packages/contract/dist/index.js')).href);
writeFileSync(join(root, 'openapi.json'), `${JSON.stringify(contract.openApiDocument(), null, 2)}\n`);
