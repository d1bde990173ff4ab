import { defaultScopes } from '@engraft/contract';
import { type KeyLifetime, keyLifetimes } from '@engraft/contract/console';
import { type Command, Option } from 'commander';
import { audited } from '../../audit/audited.js';
import { UsageError } from '../../config/config.js';
import type { ApiKey } from '../../keys/apiKey.js';
import { createKey } from '../../keys/createKey.js';
import { expiryAfter } from '../../keys/keyExpiry.js';
import { listKeys } from '../../keys/listKeys.js';
import { revokeKey } from '../../keys/revokeKey.js';
import { collect, parseKeyName, parseName, parseScopes, parseTimestamp } from '../arguments.js';
import { addOperatorOptions, operatorOf, type OperatorOptions } from '../operatorOptions.js';
import { print, table } from '../output.js';
import {
  addPrintOptions,
  CommandFailure,
  noProject,
  type PrintOptions,
  requireProject,
  withDatabase,
} from '../withDatabase.js';

interface CreateOptions extends OperatorOptions {
  readonly project: string;
  readonly name: string;
  readonly scope?: readonly string[];
  readonly tenant?: string;
  readonly expires?: KeyLifetime;
  readonly expiresAt?: string;
}

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys of a project');

  addOperatorOptions(
    key
      .command('create')
      .description('make a key and print its secret, once')
      .requiredOption('--project <name>', 'the project that the key belongs to')
      .option('--name <name>', 'a name for the key', 'key')
      .option('--scope <scope>', 'read, inference, internalize or adapters; repeat it for several (inference)', collect)
      .option('--tenant <tenant>', 'restrict the key to one tenant')
      .addOption(
        new Option('--expires <lifetime>', 'the lifetime of the key (90d)')
          .choices(keyLifetimes)
          .conflicts('expiresAt'),
      )
      .option('--expires-at <timestamp>', 'the time at which the key expires, in ISO 8601'),
  ).action(create);

  addPrintOptions(
    key
      .command('list')
      .description('list the keys of a project, without their secrets')
      .requiredOption('--project <name>', 'the project'),
  ).action(async (options: PrintOptions & { readonly project: string }) => {
    const keys = await withDatabase(options, async (db) =>
      listKeys(db, (await requireProject(db, options.project)).id),
    );
    print(options, keys.map(toJson), describe(keys));
  });

  addOperatorOptions(key.command('revoke').argument('<id>').description('block further requests with a key')).action(
    async (id: string, options: OperatorOptions) => {
      const operator = operatorOf(options);
      const outcome = await withDatabase(options, (db) =>
        audited(
          db,
          operator,
          (trx) => revokeKey(trx, id),
          (revoked) => {
            if (revoked.kind !== 'revoked' || !revoked.changed) return null;
            const { project_id, name, revoked_at } = revoked.key;
            return { action: 'key.revoke', project_id, target: id, details: { name, revoked_at } };
          },
        ),
      );
      if (outcome.kind === 'not_found')
        throw new CommandFailure(
          `there is no key '${id}'; \`engraft key list --project NAME\` lists those of a project`,
        );
      print(options, toJson(outcome.key), describe([outcome.key]));
    },
  );
}

async function create(options: CreateOptions): Promise<void> {
  const wanted = {
    name: parseKeyName(options.name),
    scopes: options.scope === undefined ? defaultScopes : parseScopes(options.scope),
    tenant_id: options.tenant === undefined ? null : parseName('tenant', options.tenant),
    expires_at: expiryOf(options),
  };
  const operator = operatorOf(options);
  const outcome = await withDatabase(options, async (db) => {
    const { id: projectId } = await requireProject(db, options.project);
    return audited(
      db,
      operator,
      (trx) => createKey(trx, { ...wanted, project_id: projectId }),
      (created) =>
        created.kind === 'created'
          ? { action: 'key.create', project_id: projectId, target: created.key.id, details: wanted }
          : null,
    );
  });
  if (outcome.kind === 'too_many_keys')
    throw new CommandFailure(`project '${options.project}' has 50 keys, the most it may have: revoke one first`);
  if (outcome.kind === 'project_not_found') throw noProject(options.project);
  const { id, name, scopes, tenant_id, expires_at } = outcome.key;
  const { secret } = outcome;
  print(options, { id, secret, name, scopes, tenant_id, expires_at }, [
    secret,
    `Keep it now: it is not shown again. ${id}, ${scopes.join(' ')}, ${describeExpiry(expires_at)}`,
  ]);
}

/** "Keys expire after 30 days, 90 days, one year or never; 90 days preselected." */
function expiryOf({ expires = '90d', expiresAt }: CreateOptions): Date | null {
  if (expiresAt !== undefined) {
    const expiry = parseTimestamp('--expires-at', expiresAt);
    if (expiry.getTime() <= Date.now()) throw new UsageError(`--expires-at must be in the future, not '${expiresAt}'`);
    return expiry;
  }
  return expiryAfter(expires);
}

function toJson({ id, name, scopes, tenant_id, created_at, expires_at, revoked_at, last_used_at }: ApiKey) {
  return { id, name, scopes, tenant_id, created_at, expires_at, revoked_at, last_used_at };
}

function describe(keys: readonly ApiKey[]): string[] {
  const head = ['ID', 'NAME', 'SCOPES', 'TENANT', 'STATE'];
  const rows = keys.map(({ id, name, scopes, tenant_id, expires_at, revoked_at }) => [
    id,
    name,
    scopes.join(' '),
    tenant_id ?? '-',
    revoked_at === null ? describeExpiry(expires_at) : `revoked ${revoked_at.toISOString()}`,
  ]);
  return table([head, ...rows]);
}

function describeExpiry(expiresAt: Date | null): string {
  if (expiresAt === null) return 'never expires';
  return `${expiresAt.getTime() <= Date.now() ? 'expired' : 'expires'} ${expiresAt.toISOString()}`;
}
