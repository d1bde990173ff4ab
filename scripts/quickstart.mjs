// `npm run quickstart`: from a clean clone to an answer out of the weights. Installs, builds, starts the service on an
// embedded database and the embedded engine, learns examples/lamp.txt, and asks about it through base and through the
// new version. `-- --model ORG/NAME` (or a folder, or a GGUF file) does it with another model than the shipped one.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { prepareModel, readModelOption } from './lib/quickstartModel.mjs';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';

const passage_file = join('examples', 'lamp.txt');
const questions = JSON.parse(readFileSync(join(root, 'examples', 'lamp.questions.json'), 'utf8'));
const max_cost_microusd = 20_000_000;

requireNode();
const model = readModelOption(process.argv.slice(2));
console.log('\nEngraft quickstart\n');
await ensureInstalled();
await ensureBuilt();
const { EngraftClient } = await load('packages/client/dist/index.js');
const { readConfig } = await load('packages/service/dist/config/config.js');
const { readDefaultKey } = await load('packages/service/dist/startup/defaultKey.js');
const { showLearningProgress } = await load('packages/service/dist/cli/learningProgress.js');

const served = model === null ? [] : ['--model', modelToServe()];
const service = await startService();
let failure = null;
try {
  await demonstrate();
} catch (error) {
  failure = error;
}
await service.stop();
if (failure !== null)
  fail(failure.message, 'The service logs are above; `npx engraft doctor` checks the installation.');
printNextSteps();

async function demonstrate() {
  const client = await openClient();
  const subject_id = `quickstart-${new Date()
    .toISOString()
    .replace(/[^0-9]/g, '')
    .slice(0, 14)}`;
  const content = readFileSync(join(root, passage_file), 'utf8');
  console.log(`\n  The passage (${passage_file}):\n\n${indent(wrap(content))}\n`);

  const before = await askAll(client, subject_id, 'base');
  const started = performance.now();
  const receipt = await client.internalizations.create({ subject_id, content, max_cost_microusd });
  const progress = showLearningProgress(process.stdout);
  // A second one ends the process at once.
  const interrupted = new AbortController();
  const why = `interrupted; ${receipt.id} goes on when the service is started again`;
  process.once('SIGINT', () => interrupted.abort(new Error(why)));
  const job = await client.jobs
    .wait(receipt.id, { signal: interrupted.signal, onUpdate: ({ phase }) => progress.update(phase) })
    .finally(() => progress.stop());
  const seconds = (performance.now() - started) / 1000;
  if (job.status !== 'ready') {
    const reason = job.result?.rejection?.message ?? job.error?.code;
    throw new Error(`the learning job ${job.id} ended as ${job.status}: ${reason}`);
  }
  const after = await askAll(client, subject_id);

  printAnswers(before, after);
  const { validation, candidate, training } = job.result;
  console.log(`  version     ${candidate.version_id}, active for subject ${subject_id}`);
  console.log(
    `  validation  ${validation.passed_count} of ${validation.total_count} held-out questions (${validation.base_passed_count} before learning)`,
  );
  console.log(`  training    ${training.steps} steps, ${training.tokens} tokens`);
  console.log(`  charged     $${usd(job.billing.charged_microusd)} of $${usd(job.billing.reserved_microusd)} reserved`);
  console.log(`  learned in  ${seconds.toFixed(1)} s`);
}

function modelToServe() {
  const prepared = prepareModel(model, readConfig().data_folder);
  if (prepared === null)
    fail(`${model} cannot be used`, 'What is wrong stands above; docs/models.md tells what can be.');
  return prepared;
}

/** A client of the service that was started here, whatever `ENGRAFT_BASE_URL` and `ENGRAFT_API_KEY` say of another. */
async function openClient() {
  const { data_folder } = readConfig();
  const apiKey = await readDefaultKey(data_folder);
  if (apiKey === null)
    throw new Error(`${data_folder} has no key of a first start: set ENGRAFT_DATA_DIR to an empty folder`);
  return new EngraftClient({ baseUrl: service.url, apiKey });
}

/** Starts `engraft serve` on any free port; its log goes to standard error from warnings on. */
async function startService() {
  process.stdout.write('  … Starting PostgreSQL, engine and API');
  const child = spawn(
    process.execPath,
    [join(root, 'packages/service/bin/engraft.js'), 'serve', '--port', '0', ...served],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ENGRAFT_LOG_LEVEL: 'warn', ...process.env },
    },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const started = performance.now();
  const url = await new Promise((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = /^engraft listening on (\S+)$/.exec(line);
      if (match !== null) resolve(match[1]);
    });
    void ended.then(() => resolve(null));
  });
  if (url === null)
    fail('the service did not start', 'Its own words are above; `npx engraft doctor` checks the installation.');
  console.log(
    `${process.stdout.isTTY ? '\r\x1b[K' : '\n'}  ✓ Service at ${url} (${((performance.now() - started) / 1000).toFixed(1)} s)`,
  );
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function askAll(client, subject_id, adapter_version) {
  return Promise.all(
    questions.map(async ({ question }) => {
      const receipt = await client.inferences.create({
        subject_id,
        messages: [{ role: 'user', content: question }],
        max_output_tokens: 40,
        ...(adapter_version === undefined ? {} : { adapter_version }),
      });
      const job = await client.jobs.wait(receipt.id);
      if (job.status !== 'succeeded')
        throw new Error(`the inference ${job.id} ended as ${job.status} (${job.error?.code})`);
      return job.result.text;
    }),
  );
}

/** Every question with what the passage says, base and the new version, marked by whether the answer holds it. */
function printAnswers(before, after) {
  console.log('\n  The passage is in no prompt below; what is known is in the weights.\n');
  for (const [index, { question, answer }] of questions.entries()) {
    const mark = (text) => (text.toLowerCase().includes(answer.toLowerCase()) ? '✓' : '✗');
    console.log(`  ${question}`);
    console.log(`      base         ${mark(before[index])} ${before[index]}`);
    console.log(`      new version  ${mark(after[index])} ${after[index]}\n`);
  }
}

function printNextSteps() {
  console.log(`
Next:
  1. Start the service and leave it running:     npx engraft serve${model === null ? '' : ` --model ${served[1]}`}
  2. In another terminal, learn a text of yours: npx engraft learn my-passage.txt --subject demo
     (docs/models.md says what kind of passage the shipped model can learn)
  3. Ask about it:                               npx engraft ask "..." --subject demo
     and compare:                                npx engraft ask "..." --subject demo --version base
  Or do it in a browser: the start in 1. prints a link that sets up the console, at http://127.0.0.1:8080/console
`);
}

function fail(message, advice) {
  console.error(`\n  ✗ ${message}\n    ${advice}`);
  process.exit(1);
}

function load(file) {
  return import(pathToFileURL(join(root, file)).href);
}

function usd(microusd) {
  return (microusd / 1e6).toFixed(2);
}

function wrap(text, width = 90) {
  return text
    .trim()
    .replace(new RegExp(`(.{1,${width}})(\\s+|$)`, 'g'), '$1\n')
    .trimEnd();
}

function indent(text) {
  return text.replace(/^/gm, '    ');
}
