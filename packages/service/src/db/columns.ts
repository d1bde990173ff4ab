import type { ColumnType, Generated } from 'kysely';

/**
 * The content is `unknown` until its owner has parsed it. It is written as JSON text, because pg would send a
 * JavaScript array as a PostgreSQL array.
 */
export type JsonColumn = ColumnType<unknown, string, string>;
export type NullableJsonColumn = ColumnType<unknown, string | null | undefined, string | null>;

/** Has a default. pg sends a Date with milliseconds and its zone. */
export type Timestamp = Generated<Date>;
