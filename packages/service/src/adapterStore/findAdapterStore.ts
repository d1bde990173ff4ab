import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { type AdapterStore, locateStore, openAdapterStore, storeMark } from './adapterStore.js';
import { AdapterStoreMissing } from './adapterStoreMissing.js';

/** Without other evidence that the folder is the right one, this many adapters are looked for. */
const looked_for_max = 100;

/**
 * The store of the adapters that the database has: a folder with the mark of a store, or with at least one of them. Of
 * a new installation it is made.
 * @throws AdapterStoreMissing where the database has adapters and the folder none of them: their versions would all
 * count as damaged.
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
