import { HubError, readHubSettings, type HubSettings } from '@engraft/hub';
import { UsageError } from './config.js';

/** Reads the variables of Hugging Face's tools. Throws a `UsageError` that names the wrong one, like `readConfig`. */
export async function readHubConfig(env: NodeJS.ProcessEnv = process.env): Promise<HubSettings> {
  return readHubSettings(env).catch((error: unknown) => {
    if (error instanceof HubError && error.code === 'settings_invalid') throw new UsageError(error.message);
    throw error;
  });
}
