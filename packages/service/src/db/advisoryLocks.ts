/**
 * The service's advisory locks, in one place so that no two share a number. A version's adapter is locked by its hash.
 */
export const advisoryLocks = {
  /** Held by whoever changes the schema. */
  migration: 7_345_010,
  /** Shared by everyone who needs the embedded server. */
  users: 7_345_011,
  /** Held by whoever makes the default project. */
  firstStart: 7_345_012,
  /** Held by whoever makes a backup, and shared by everyone who deletes adapters. */
  backup: 7_345_013,
  /** Held by the session that stops an unused embedded server. */
  watcher: 7_345_014,
  /** Held by whoever archives jobs. */
  archive: 7_345_015,
  /** Held by whoever sets up an account of the console. */
  setUp: 7_345_016,
} as const;
