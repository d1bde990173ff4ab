import pg from 'pg';

/** The meaning of pg's errors for a caller. Codes: PostgreSQL manual, appendix A; Node.js system errors. */

/** The user lacks the right. */
export const insufficientPrivilege = '42501';

const uniqueViolation = '23505';

const deadlock = '40P01';
const lockNotAvailable = '55P03';

const transactionConflicts = new Set(['40001', deadlock]);

const systemErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Classes: 08 connection exception, 53 insufficient resources, 57 operator intervention, 58 system error. */
const unavailableClasses = new Set(['08', '53', '57', '58']);
/** A standby after a failover, a transaction that was idle too long, and a lock that could not be had in time. */
const unavailableStates = new Set(['25006', '25P03', lockNotAvailable]);

/** pg reports a lost connection and an exhausted pool as plain errors with these messages. */
const pgMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Connection ended unexpectedly)/;

/** Whether PostgreSQL itself reported the error. Its message and `detail` may quote rows. */
export function isDatabaseError(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError;
}

/** Another row has the value that must be unique. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === uniqueViolation;
}

/** A serialization failure or a deadlock. The same transaction may succeed when repeated. */
export function isTransactionConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && transactionConflicts.has(code);
}

/** A deadlock, or a lock that could not be had in time. */
export function isLockConflict(error: unknown): error is pg.DatabaseError {
  return isDatabaseError(error) && (error.code === deadlock || error.code === lockNotAvailable);
}

/** The database cannot be reached or cannot work now. Nothing is wrong with the request, which may be repeated. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (pgMessages.test(error.message)) return true;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  const code = codeOf(error);
  if (code === undefined) return false;
  if (systemErrors.has(code) && 'syscall' in error)
    return ['connect', 'read', 'write', 'getaddrinfo'].includes(String(error.syscall));
  return (
    isSqlState(code) &&
    (unavailableClasses.has(code.slice(0, 2)) || unavailableStates.has(code) || transactionConflicts.has(code))
  );
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code);
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return error.code;
}
