import { scope, type Scope } from '@engraft/contract';
import { z } from 'zod';
import { UsageError } from '../config/config.js';

/**
 * Parses an amount that a person types. Everything else in the service is micro-USD. The result is exact, without
 * binary fractions.
 */
export function parseUsd(text: string): number {
  const match = /^(\d+)(?:\.(\d{1,6}))?$/.exec(text);
  if (match !== null && Number(match[1]) >= 1e9)
    throw new UsageError(`'${text}' is too much: less than 1,000,000,000 USD`);
  if (match === null) throw new UsageError(`'${text}' is not an amount of USD with at most 6 decimals`);
  const [, whole = '', fraction = ''] = match;
  return Number(whole) * 1_000_000 + Number(fraction.padEnd(6, '0'));
}

export function parseMicrousd(text: string): number {
  return parseWholeNumber(text, 'an amount of micro-USD');
}

export function parseWholeNumber(text: string, meaning = 'a whole number'): number {
  const value = Number(text);
  if (!/^\d+$/.test(text)) throw new UsageError(`'${text}' is not ${meaning}`);
  if (!Number.isSafeInteger(value)) throw new UsageError(`'${text}' is more than ${Number.MAX_SAFE_INTEGER}`);
  return value;
}

/** ISO 8601, with a zone. */
export function parseTimestamp(text: string): Date {
  const parsed = z.iso.datetime({ offset: true }).safeParse(text);
  if (!parsed.success) throw new UsageError(`'${text}' is not a timestamp like 2027-01-31T12:00:00Z`);
  return new Date(parsed.data);
}

/** How many items a command lists. */
export function parseLimit(text: string): number {
  const limit = parseWholeNumber(text);
  if (limit < 1 || limit > 1_000) throw new UsageError(`--limit must be 1 to 1000, not ${limit}`);
  return limit;
}

/** For options that may be given several times. */
export function collect(text: string, earlier: readonly string[] | undefined): string[] {
  return [...(earlier ?? []), text];
}

export function parseScopes(texts: readonly string[]): Scope[] {
  return texts.map((text) => {
    const parsed = scope.safeParse(text);
    if (!parsed.success) throw new UsageError(`'${text}' is not a scope: use ${scope.options.join(', ')}`);
    return parsed.data;
  });
}
