import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EngineError } from '../engine.js';
import { readBoundedFile } from '../support/boundedFile.js';
import { abbreviate } from '../support/abbreviate.js';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a thrown value is the file system's "no such file". */
export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Larger than any configuration, template or index. Tokenizers have a bound of their own. */
const maxTextBytes = 2 ** 24;

/**
 * The text of a file, or `undefined` if there is none. Throws `checkpoint_invalid`, naming `source`, if it cannot be
 * read or has more than `maxBytes` bytes.
 */
export async function readOptionalText(
  path: string,
  source: string,
  maxBytes = maxTextBytes,
): Promise<string | undefined> {
  const bytes = await readBoundedFile(path, { code: 'checkpoint_invalid', file: source }, maxBytes);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

export interface NumberRange {
  readonly min?: number;
  readonly max?: number;
}

/**
 * Typed reading of one JSON object from a checkpoint file. Every refusal is an `EngineError` `checkpoint_invalid` that
 * names the file and the field, such as `config.json: hidden_size must be …`. `null` counts as absent, as in files that
 * Python writes.
 */
export class JsonFields {
  constructor(
    /** How error messages name this object: the file name, and a path inside it if nested. */
    readonly source: string,
    private readonly object: JsonObject,
  ) {}

  static async read(path: string, source: string, maxBytes?: number): Promise<JsonFields> {
    const fields = await JsonFields.readOptional(path, source, maxBytes);
    if (fields !== undefined) return fields;
    const folder = dirname(path);
    const isThere = await stat(folder).then(
      () => true,
      () => false,
    );
    const problem = isThere ? `${source} is missing (${path})` : `there is no folder ${folder}`;
    throw new EngineError('checkpoint_invalid', problem);
  }

  /** Like `read`, but `undefined` when there is no such file. */
  static async readOptional(path: string, source: string, maxBytes?: number): Promise<JsonFields | undefined> {
    const text = await readOptionalText(path, source, maxBytes);
    if (text === undefined) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new EngineError('checkpoint_invalid', `${source} is not valid JSON`, { cause: error });
    }
    if (!isJsonObject(value)) throw new EngineError('checkpoint_invalid', `${source} must hold a JSON object`);
    return new JsonFields(source, value);
  }

  /** The whole parsed object, for libraries that want it. */
  get raw(): JsonObject {
    return this.object;
  }

  has(name: string): boolean {
    return this.value(name) !== undefined;
  }

  value(name: string): unknown {
    return (Object.hasOwn(this.object, name) ? this.object[name] : undefined) ?? undefined;
  }

  integer(name: string, fallback?: number, range: NumberRange = { min: 1 }): number {
    const value = this.number(name, fallback, range);
    if (!Number.isSafeInteger(value)) throw this.refusal(name, 'an integer');
    return value;
  }

  number(name: string, fallback?: number, { min = -Infinity, max = Infinity }: NumberRange = {}): number {
    const value = this.value(name) ?? fallback;
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.refusal(name, 'a number');
    if (value < min || value > max) throw this.refusal(name, `between ${min} and ${max}`);
    return value;
  }

  boolean(name: string, fallback?: boolean): boolean {
    const value = this.value(name) ?? fallback;
    if (typeof value !== 'boolean') throw this.refusal(name, 'true or false');
    return value;
  }

  string(name: string, fallback?: string): string {
    const value = this.value(name) ?? fallback;
    if (typeof value !== 'string') throw this.refusal(name, 'a string');
    return value;
  }

  strings(name: string): readonly string[] {
    const value = this.value(name);
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
      throw this.refusal(name, 'a list of strings');
    }
    return value;
  }

  nested(name: string): JsonFields | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (!isJsonObject(value)) throw this.refusal(name, 'an object');
    return new JsonFields(`${this.source}: ${name}`, value);
  }

  refusal(name: string, expected: string): EngineError {
    const found = this.value(name) === undefined ? 'is absent' : `is ${abbreviate(this.value(name))}`;
    return new EngineError('checkpoint_invalid', `${this.source}: ${name} must be ${expected}, but ${found}`);
  }
}
