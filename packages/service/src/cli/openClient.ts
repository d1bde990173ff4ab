import { EngraftClient } from '@engraft/client';
import { readConfig } from '../config/config.js';
import { readDefaultKey } from '../processes/defaultKey.js';
import { readServiceAddress } from '../processes/serviceAddress.js';
import { CommandFailure, type DataOptions } from './withDatabase.js';

/**
 * The client of the service that `ENGRAFT_BASE_URL` names, or else of the one that runs on the data folder; with the
 * key of `ENGRAFT_API_KEY`, or else the one that the first start left in the data folder.
 */
export async function openClient(options: DataOptions): Promise<EngraftClient> {
  const { data_folder, host, port } = readConfig(options);
  const given = (name: string): string | null => {
    const value = process.env[name];
    return value === undefined || value === '' ? null : value;
  };
  const apiKey = given('ENGRAFT_API_KEY') ?? (await readDefaultKey(data_folder));
  if (apiKey === null) {
    throw new CommandFailure(`no API key: set ENGRAFT_API_KEY, or start the service once on ${data_folder}`);
  }
  const baseUrl = given('ENGRAFT_BASE_URL') ?? (await readServiceAddress(data_folder)) ?? `http://${host}:${port}`;
  return new EngraftClient({ baseUrl, apiKey });
}
