import { HubError, readHubSettings, type HubSettings } from '@engraft/hub';
import { UsageError } from './config.js';

/** The variables of Hugging Face's tools. Throws `UsageError` naming the one that is wrong, as `readConfig` does. */
export async function readHubConfig(env: NodeJS.ProcessEnv = process.env): Promise<HubSettings> {
  return readHubSettings(env).catch((error: unknown) => {
    if (error instanceof HubError && error.code === 'settings_invalid') throw new UsageError(error.message);
    throw error;
  });
}
