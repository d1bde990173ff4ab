import { identifier, scope, type Scope } from '@engraft/contract';
import { keyName } from '@engraft/contract/console';
import { z } from 'zod';
import { UsageError } from '../config/config.js';

/** Both are allowed. */
interface Bounds {
  readonly min: number;
  readonly max: number;
}

/**
 * Parses an amount that a person types. Everything else in the service is micro-USD. The result is exact, without
 * binary fractions.
 * @param option names the option in the message of the `UsageError`, as for all functions of this file
 */
export function parseUsd(option: string, text: string): number {
  const match = /^(\d+)(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) throw new UsageError(`${option} must be an amount in USD with at most 6 decimals, not '${text}'`);
  const [, whole = '', fraction = ''] = match;
  if (Number(whole) >= 1e9) throw new UsageError(`${option} must be less than 1,000,000,000 USD, not '${text}'`);
  return Number(whole) * 1_000_000 + Number(fraction.padEnd(6, '0'));
}

/** @param bounds in USD */
export function parseUsdWithin(option: string, text: string, { min, max }: Bounds): number {
  const microusd = parseUsd(option, text);
  if (microusd >= min * 1_000_000 && microusd <= max * 1_000_000) return microusd;
  throw new UsageError(`${option} must be from ${min} to ${max} USD, not '${text}'`);
}

export function parseMicrousd(option: string, text: string): number {
  return parseWholeNumber(option, text, 'a whole number of micro-USD');
}

export function parseWholeNumber(option: string, text: string, meaning = 'a whole number'): number {
  const value = Number(text);
  if (!/^\d+$/.test(text)) throw new UsageError(`${option} must be ${meaning}, not '${text}'`);
  if (!Number.isSafeInteger(value))
    throw new UsageError(`${option} must be at most ${Number.MAX_SAFE_INTEGER}, not '${text}'`);
  return value;
}

export function parseWithin(option: string, text: string, { min, max }: Bounds): number {
  const value = parseWholeNumber(option, text);
  if (value < min || value > max) throw new UsageError(`${option} must be from ${min} to ${max}, not ${value}`);
  return value;
}

export function parsePositive(option: string, text: string): number {
  const value = parseWholeNumber(option, text);
  if (value < 1) throw new UsageError(`${option} must be at least 1, not ${value}`);
  return value;
}

/** ISO 8601, with a zone. */
export function parseTimestamp(option: string, text: string): Date {
  const parsed = z.iso.datetime({ offset: true }).safeParse(text);
  if (!parsed.success) throw new UsageError(`${option} must be a time like 2027-01-31T12:00:00Z, not '${text}'`);
  return new Date(parsed.data);
}

/** How many items a command lists. */
export function parseLimit(text: string): number {
  return parseWithin('--limit', text, { min: 1, max: 1_000 });
}

/** For an argument that names a file or folder: Node.js takes an empty path for the current folder. */
export function notEmpty(argument: string): (text: string) => string {
  return (text) => {
    if (text === '') throw new UsageError(`${argument} must not be empty`);
    return text;
  };
}

/** For options that may be given several times. */
export function collect(text: string, earlier: readonly string[] | undefined): string[] {
  return [...(earlier ?? []), text];
}

export function parseScopes(texts: readonly string[]): Scope[] {
  return texts.map((text) => {
    const parsed = scope.safeParse(text);
    if (!parsed.success) throw new UsageError(`--scope must be one of ${scope.options.join(', ')}, not '${text}'`);
    return parsed.data;
  });
}

export function parseKeyName(text: string): string {
  const parsed = keyName.safeParse(text);
  if (!parsed.success) throw new UsageError(`--name ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}

/** Reads the name of a tenant or subject. */
export function parseName(what: 'tenant' | 'subject', text: string): string {
  const parsed = identifier.safeParse(text);
  if (!parsed.success) throw new UsageError(`'${text}' is not a ${what} name: ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}
