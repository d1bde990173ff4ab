import { oneLine } from '@engraft/contract';
import type { Command } from 'commander';
import { type Operator, thisOperator } from '../audit/operator.js';
import { UsageError } from '../config/config.js';
import { addPrintOptions, type PrintOptions } from './withDatabase.js';

export interface OperatorOptions extends PrintOptions {
  readonly by?: string;
  readonly reason?: string;
}

const by = ['--by <name>', 'who does this, for the audit log (the user of the operating system)'] as const;
const reason = ['--reason <text>', 'why, for the audit log'] as const;

/** For commands that change something. */
export function addOperatorOptions(command: Command): Command {
  return addPrintOptions(command.option(...by).option(...reason));
}

/** @throws UsageError for a name or reason that is not one line of text */
export function operatorOf(options: OperatorOptions): Operator {
  return thisOperator({
    ...(options.by === undefined ? {} : { by: checked('--by', options.by, 200) }),
    ...(options.reason === undefined ? {} : { reason: checked('--reason', options.reason, 2_000) }),
  });
}

function checked(flag: string, text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters && oneLine.test(text)) return text.trim();
  throw new UsageError(`${flag} takes one line of text of at most ${maxCharacters} characters`);
}
