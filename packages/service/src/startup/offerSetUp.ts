import type { Kysely } from 'kysely';
import { thisOperator } from '../audit/operator.js';
import { linkUrl, makeLink } from '../console/links.js';
import { hasMembers } from '../console/members.js';
import type { Database } from '../db/schema.js';

/** A one-time link that sets up the console's owner. `null` if somebody has an account. */
export async function offerSetUp(db: Kysely<Database>, url: string): Promise<string | null> {
  if (await hasMembers(db)) return null;
  const operator = thisOperator({ reason: 'a start without members' });
  const { token } = await makeLink(db, operator, { email: null, role: 'owner', project_id: null });
  return linkUrl(url, token);
}
