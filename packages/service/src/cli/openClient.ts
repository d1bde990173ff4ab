import { EngraftClient } from '@engraft/client';
import { readConfig } from '../config/config.js';
import { readDefaultKey } from '../startup/defaultKey.js';
import { readServiceAddress } from '../startup/serviceAddress.js';
import { CommandFailure, type DataOptions } from './withDatabase.js';

/**
 * Opens a client of the service that `ENGRAFT_BASE_URL` names, or else of the one that runs on the data folder. The key
 * is that of `ENGRAFT_API_KEY`, or else the one that the first start left in the data folder.
 */
export async function openClient(options: DataOptions): Promise<EngraftClient> {
  const { dataFolder, baseUrl: named, host, port } = readConfig(options);
  const given = process.env['ENGRAFT_API_KEY'] ?? '';
  const apiKey = given === '' ? await readDefaultKey(dataFolder) : given;
  if (apiKey === null) {
    throw new CommandFailure(
      `no API key: ${dataFolder} has none, so set ENGRAFT_API_KEY to one that \`engraft key create\` made; a first \`engraft serve\` on an empty data folder leaves one, too`,
    );
  }
  const baseUrl = named ?? (await readServiceAddress(dataFolder)) ?? `http://${host}:${port}`;
  return new EngraftClient({ baseUrl, apiKey });
}
