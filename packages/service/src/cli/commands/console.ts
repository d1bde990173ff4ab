import { emailAddress, memberRoles, type MemberRole } from '@engraft/contract/console';
import { type Command, Option } from 'commander';
import { readConfig, UsageError } from '../../config/config.js';
import { linkUrl, makeLink, roleOfLink } from '../../console/links.js';
import { readServiceAddress } from '../../startup/serviceAddress.js';
import { addOperatorOptions, operatorOf, type OperatorOptions } from '../operatorOptions.js';
import { print } from '../output.js';
import { requireProject, withDatabase } from '../withDatabase.js';

interface LinkOptions extends OperatorOptions {
  readonly email?: string;
  readonly role?: MemberRole;
  readonly project?: string;
}

export function addConsoleCommands(program: Command): void {
  const console = program.command('console').description('the web console, at /console of the service');
  addOperatorOptions(
    console
      .command('link')
      .description('print a link, for use once, that sets up the owner or resets a password')
      .option('--email <address>', 'the account; without it, whoever opens the link chooses')
      .addOption(new Option('--role <role>', 'the role of the account (owner)').choices(memberRoles))
      .option('--project <name>', 'give the role in this project only'),
  ).action(link);
}

async function link(options: LinkOptions): Promise<void> {
  if (options.project !== undefined && options.role === undefined)
    throw new UsageError('--project needs --role: owner, developer or viewer');
  const email = options.email === undefined ? null : parseEmail(options.email);
  const operator = operatorOf(options);
  const { token, expires_at } = await withDatabase(options, async (db) => {
    const { project } = options;
    const projectId = project === undefined ? null : (await requireProject(db, project)).id;
    const role = await roleOfLink(db, { email, role: options.role ?? null });
    return makeLink(db, operator, { email, role, project_id: projectId });
  });
  const { dataFolder, baseUrl, host, port } = readConfig(options);
  const url = linkUrl(baseUrl ?? (await readServiceAddress(dataFolder)) ?? `http://${host}:${port}`, token);
  print(options, { url, expires_at }, [url, `It works once, until ${expires_at.toISOString()}.`]);
}

function parseEmail(text: string): string {
  const parsed = emailAddress.safeParse(text);
  if (!parsed.success) throw new UsageError(`--email must be an e-mail address, not '${text}'`);
  return parsed.data;
}
