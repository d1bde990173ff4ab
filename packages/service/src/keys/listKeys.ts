import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { apiKeyColumns, toApiKey, type ApiKey } from './apiKey.js';

/** Every key of a project, including revoked ones, oldest first. */
export async function listKeys(db: Kysely<Database>, projectId: string): Promise<ApiKey[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(apiKeyColumns)
    .where('project_id', '=', projectId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toApiKey);
}
