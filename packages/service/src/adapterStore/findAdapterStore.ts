import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { type AdapterStore, locateStore, openAdapterStore, storeMark } from './adapterStore.js';
import { AdapterStoreMissing } from './adapterStoreMissing.js';

/** How many adapters are looked for if nothing else shows that the folder is the right one. */
const looked_for_max = 100;

/**
 * Finds the store of the database's adapters: a folder with the mark of a store, or with at least one of the adapters.
 * A new installation gets a new one.
 * @throws AdapterStoreMissing if the database has adapters and the folder has none of them, since all their versions
 * would count as damaged
 */
export async function findAdapterStore(db: Kysely<Database>, data_folder: string): Promise<AdapterStore> {
  const { home, isPresent, has } = locateStore(data_folder);
  if (!(await isPresent())) {
    const rows = await db
      .selectFrom('versions')
      .select('adapter_hash')
      .distinct()
      .where('retention_ended_at', 'is', null)
      .where('files_deleted_at', 'is', null)
      .where('damaged_at', 'is', null)
      .limit(looked_for_max)
      .execute();
    const found = await Promise.all(rows.map(({ adapter_hash }) => has(adapter_hash)));
    if (found.length > 0 && !found.includes(true)) {
      throw new AdapterStoreMissing(
        `the database has adapters, and the folder ${home} has none of them: mount its file system, or name the ` +
          `right data folder (--data, ENGRAFT_DATA_DIR). If they are lost for good, make the empty file ${storeMark} in it`,
      );
    }
  }
  return openAdapterStore(data_folder);
}
