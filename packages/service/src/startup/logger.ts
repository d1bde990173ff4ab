import { type Logger, pino } from 'pino';
import { Counter, type Registry } from 'prom-client';
import type { Config } from '../config/config.js';
import { describeError } from '../http/describeError.js';
import { type LogOutput, openLogOutput } from './logOutput.js';

export interface Log {
  readonly logger: Logger;
  readonly output: LogOutput;
}

/** "Structured JSON lines on standard error; never a secret, a passage or a message text." */
export function openLog({ logLevel }: Pick<Config, 'logLevel'>): Log {
  const serializers = { err: describeError };
  const options = { level: logLevel, base: null, serializers, timestamp: pino.stdTimeFunctions.isoTime };
  const output = openLogOutput(process.stderr, {
    onResumed: (droppedLines) => {
      logger.error(
        { dropped_lines: droppedLines },
        `${droppedLines} log lines were dropped: standard error was not read`,
      );
    },
  });
  const logger = pino(options, output);
  return { logger, output };
}

export function countDroppedLines(metrics: Registry, { droppedLines }: LogOutput): void {
  new Counter({
    name: 'engraft_log_lines_dropped_total',
    help: 'Log lines that were dropped because standard error was not read or could not be written to.',
    registers: [metrics],
    collect() {
      this.reset();
      this.inc(droppedLines());
    },
  });
}
