import { type Logger, pino } from 'pino';
import type { Config } from '../config/config.js';
import { describeError } from '../http/describeError.js';

/** "Structured JSON lines on standard error; never a secret, a passage or a message text." */
export function createLogger({ log_level }: Pick<Config, 'log_level'>): Logger {
  const serializers = { err: describeError };
  const options = { level: log_level, base: null, serializers, timestamp: pino.stdTimeFunctions.isoTime };
  return pino(options, pino.destination({ dest: 2, sync: true }));
}
