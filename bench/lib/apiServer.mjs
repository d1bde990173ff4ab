// The process under load: the service's HTTP interface, and beside it a bare Fastify with one route for each workload
// that runs the very SQL statements which the service was seen to run for it. Started by bench/api.mjs.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './measure.mjs';

// Their packages are the service's dependencies.
const require = createRequire(join(root, 'packages/service/package.json'));
const pg = require('pg');
const { fastify } = require('fastify');
const { pino } = require('pino');
const load = (path) => import(pathToFileURL(join(root, 'packages/service/dist', path)).href);

const { openTestDatabase } = await load('testing/testDatabase.js');
const { buildTestApp, call, createTestKey, createTestProject } = await load('testing/testApp.js');

const maxConnections = 24;
const database = await openTestDatabase({ maxConnections });
const key = await createTestKey(database.db, await createTestProject(database.db, 1e15));
const { app } = buildTestApp(database.db, {
  ...(await promptMeter()),
  logger: pino({ level: 'info' }, pino.destination('/dev/null')),
});

const body = {
  subject_id: 'bench',
  messages: [{ role: 'user', content: 'How long is the warranty of the Aurora desk lamp, and who may repair it?' }],
};
const replayed = await admit('bench-replayed-key');
const recordedAdmission = await record(() => admit('bench-recorded-key'));

const bare = fastify();
const pool = new pg.Pool({ connectionString: database.url, max: maxConnections });
addBareRoute('GET', '/read', await record(() => call(app, 'GET', `/v1/jobs/${replayed.id}`, { key })), () => ({}));
addBareRoute('POST', '/replay', await record(() => admit('bench-replayed-key')), () => ({}));
addBareRoute('POST', '/admit', recordedAdmission, () => ({
  [recordedAdmission.result.id]: `job_${randomBytes(18).toString('base64url')}`,
  'bench-recorded-key': `bare-${randomBytes(12).toString('base64url')}`,
}));

const [servicePort, barePort] = await Promise.all([app, bare].map(listen));
process.send({
  service_port: servicePort,
  bare_port: barePort,
  authorization: key.authorization,
  job_id: replayed.id,
  body,
});
process.on('disconnect', async () => {
  await Promise.all([app.close(), bare.close()]);
  await pool.end();
  await database.close();
  process.exit(0);
});

/** The real tokenizer counts prompts, where there is a model. */
async function promptMeter() {
  const modelFolder = join(root, 'models/base');
  if (!existsSync(join(modelFolder, 'tokenizer.json'))) return {};
  const { loadPromptMeter } = await load('startup/model.js');
  return loadPromptMeter(modelFolder);
}

async function admit(idempotencyKey) {
  const headers = { 'idempotency-key': idempotencyKey };
  const response = await call(app, 'POST', '/v1/inferences', { key, headers, body });
  if (response.statusCode > 202) throw new Error(response.body);
  return response.json();
}

/** The statements that `work` makes the service run, with their values. Nothing else may run meanwhile. */
async function record(work) {
  const statements = [];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (...parameters) {
    const [text, values] = parameters;
    if (typeof text === 'string') statements.push({ text, values: Array.isArray(values) ? values : [] });
    return query.apply(this, parameters);
  };
  try {
    return { result: await work(), statements };
  } finally {
    pg.Client.prototype.query = query;
  }
}

/** Runs the recorded statements on one connection, with the values that must differ each time replaced. */
function addBareRoute(method, url, { statements }, fresh) {
  bare.route({
    method,
    url,
    handler: async (_request, reply) => {
      const replacements = fresh();
      const renew = (value) => (typeof value === 'string' ? renewInside(value, replacements) : value);
      const client = await pool.connect();
      try {
        let last;
        for (const { text, values } of statements) last = await client.query(text, values.map(renew));
        return reply.code(method === 'GET' ? 200 : 202).send(last?.rows?.[0] ?? { status: 'done' });
      } finally {
        client.release();
      }
    },
  });
}

/** Also where a value is only a part of another. */
function renewInside(text, replacements) {
  return Object.entries(replacements).reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

async function listen(server) {
  await server.listen({ port: 0, host: '127.0.0.1' });
  return server.server.address().port;
}
