/**
 * The service's advisory locks, in one place so that no two have one number. Versions' adapters are locked by their
 * hash.
 */
export const advisoryLocks = {
  /** Whoever changes the schema. */
  migration: 7_345_010,
  /** Shared: everyone who needs the embedded server. */
  users: 7_345_011,
  /** Whoever makes the default project. */
  firstStart: 7_345_012,
  /** Whoever makes a backup; shared: everyone who deletes adapters. */
  backup: 7_345_013,
  /** The session that stops an embedded server which nobody uses. */
  watcher: 7_345_014,
} as const;
