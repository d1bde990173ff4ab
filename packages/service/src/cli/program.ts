import { Command } from 'commander';
import { addArchiveCommands } from './commands/archive.js';
import { addAskCommand } from './commands/ask.js';
import { addAuditCommands } from './commands/audit.js';
import { addBackupCommands } from './commands/backup.js';
import { addConsoleCommands } from './commands/console.js';
import { addBalanceCommand, addCreditCommands } from './commands/credit.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addErasureCommands } from './commands/erasure.js';
import { addEvalCommand } from './commands/eval.js';
import { addJobCommands } from './commands/job.js';
import { addKeyCommands } from './commands/key.js';
import { addLearnCommand } from './commands/learn.js';
import { addLedgerCommands } from './commands/ledger.js';
import { addModelCommands } from './commands/model.js';
import { addProjectCommands } from './commands/project.js';
import { addQuickstartCommand } from './commands/quickstart.js';
import { addServiceCommands } from './commands/service.js';
import { addSubjectCommands } from './commands/subject.js';
import { addTeacherCommands } from './commands/teacher.js';
import { addVersionCommands } from './commands/version.js';
import { engraftVersion } from '../engraftVersion.js';

/** The whole command line, with one file for each noun. `argv` is what will be read with it. */
export function createProgram(argv: readonly string[] = []): Command {
  const program = new Command('engraft')
    .description('Learn a passage of text into model weights, and serve the result over HTTP.')
    .version(engraftVersion, '-V, --version', 'print the version and end')
    // Comes before the subcommands, which inherit it: wrong usage throws instead of ending the process.
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(namingUnknownOption(text, program, argv)) })
    // Keeps `ask --version ver_…` from being read as the program's own --version.
    .enablePositionalOptions();
  addQuickstartCommand(program);
  addServiceCommands(program);
  addProjectCommands(program);
  addKeyCommands(program);
  addCreditCommands(program);
  addBalanceCommand(program);
  addJobCommands(program);
  addVersionCommands(program);
  addErasureCommands(program);
  addLedgerCommands(program);
  addArchiveCommands(program);
  addAuditCommands(program);
  addConsoleCommands(program);
  addLearnCommand(program);
  addAskCommand(program);
  addEvalCommand(program);
  addTeacherCommands(program);
  addModelCommands(program);
  addBackupCommands(program);
  addSubjectCommands(program);
  addDoctorCommand(program);
  return program;
}

/** Commander finds a required option missing before it finds an unknown one, which may be that option mistyped. */
function namingUnknownOption(text: string, program: Command, argv: readonly string[]): string {
  const known = new Set(['--help', ...optionsOf(program)]);
  const unknown = argv
    .map((argument) => /^--[a-z][a-z-]*/.exec(argument)?.[0])
    .find((flag) => flag && !known.has(flag));
  if (unknown === undefined || !text.startsWith('error: required option')) return text;
  return `${text.trimEnd()}; there is no option '${unknown}'\n`;
}

function optionsOf({ options, commands }: Command): string[] {
  return [...options.flatMap(({ long }) => long ?? []), ...commands.flatMap(optionsOf)];
}
