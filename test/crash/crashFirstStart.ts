import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { firstStartPoints } from './crashAndRecover.js';
import type { CrashTest } from './crashTest.js';

/** The state once a first start that died at every one of its points has come to its end. */
export interface Installation {
  readonly subjects: number;
  readonly projects: readonly object[];
  /** In the data folder. */
  readonly files: readonly string[];
  readonly default_key: string;
}

/** Starts a service on nothing, over and over; at each point it dies once. */
export async function crashFirstStart(test: CrashTest): Promise<Installation> {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-first-'));
  const dataFolder = path.join(folder, 'data');
  const databaseUrl = await makeDatabase(test);
  const environment = { ENGRAFT_DATA_DIR: dataFolder, DATABASE_URL: databaseUrl };
  for (const crashPoint of firstStartPoints) {
    const came = await test.service.start({ crash_point: crashPoint, passing: 1 }, environment);
    if (came !== 'died') throw new Error(`the service did not come to ${crashPoint}`);
  }
  if ((await test.service.start(undefined, environment)) !== 'listening') throw new Error('the service died again');
  const { data: subjects } = await test.service.client.subjects.list();
  await test.service.kill();
  const database = new pg.Client(databaseUrl);
  await database.connect();
  const { rows: projects } = await database.query<object>(
    `SELECT name, (SELECT count(*)::int FROM api_keys) AS keys,
       (SELECT sum(amount_microusd)::int FROM transfers WHERE kind = 'grant') AS granted_microusd FROM projects`,
  );
  await database.end();
  const files = (await readdir(dataFolder)).sort();
  const defaultKey = await readFile(path.join(dataFolder, 'default-key'), 'utf8');
  await rm(folder, { recursive: true });
  return { subjects: subjects.length, projects, files, default_key: defaultKey };
}

/** Makes a database whose owner may make roles, as at a provider. Returns the owner's URL. */
async function makeDatabase({ database, databaseUrl }: CrashTest): Promise<string> {
  await database.query(`CREATE ROLE tenant LOGIN CREATEROLE PASSWORD 'secret'`);
  await database.query('CREATE DATABASE tenant OWNER tenant');
  const url = new URL(databaseUrl);
  [url.username, url.password, url.pathname] = ['tenant', 'secret', '/tenant'];
  return url.href;
}
