import { isDatabaseError } from '../db/databaseErrors.js';

/**
 * An error as the log may show it. A message can quote what was being read (PostgreSQL quotes rows, JSON.parse quotes
 * texts), and a log line never holds a secret, a passage or a message text. So such messages are left out.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const quotes = isDatabaseError(error) || error instanceof SyntaxError;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    ...('code' in error ? { code: error.code } : {}),
    ...(isDatabaseError(error) ? { constraint: error.constraint, table: error.table } : {}),
    ...(quotes ? {} : { message: error.message }),
    frames: frames.map((frame) => frame.trim()),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
