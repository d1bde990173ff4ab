/** Jinja templates that always end: their interpreter counts its steps. */
import { Environment, Interpreter, type RuntimeValue, type Statement, Template } from '@huggingface/jinja';
import { keptNumber } from '../support/exactNumbers.js';

/** About a second of computing. A conversation takes tens of steps for each message. */
const maxSteps = 1_000_000;
/** The number of characters or items that can be made, or read, in about the time of a step. */
const madeAStep = 64;
const readAStep = 1024;

type Side = 'start' | 'end';

/** Methods of a text, and where they take characters away. */
const strips: ReadonlyMap<unknown, readonly Side[]> = new Map([
  ['strip', ['start', 'end']],
  ['lstrip', ['start']],
  ['rstrip', ['end']],
]);

/** The template joins a text with a list or mapping. Python cannot, and the library would write `[object Map]`. */
export class JoinError extends Error {
  override readonly name = 'JoinError';
}

/** An expression whose value is known. */
interface Evaluated extends Statement {
  readonly result: RuntimeValue;
}

export class BoundedTemplate {
  private readonly program: Statement;

  /** @throws Error when it cannot be parsed. */
  constructor(source: string) {
    this.program = new Template(source).parsed;
  }

  /** @throws Error that the template raises, or when it does not end within `maxSteps` steps. */
  render(variables: Readonly<Record<string, unknown>>): string {
    const { value } = new CountingInterpreter(variables).run(this.program);
    if (typeof value !== 'string') throw new Error('it gives no text');
    return value;
  }
}

/** Every statement and expression passes through `evaluate`, and so does everything that a loop iterates over. */
class CountingInterpreter extends Interpreter {
  private steps = 0;
  /** Expressions that loops iterate over. */
  private readonly iterables = new Set<Statement>();
  /** Expressions of which a method of `strips` is taken. */
  private readonly stripped = new Set<Statement>();
  /** Serialised sizes of lists and mappings that never change because they hold no namespace. */
  private readonly writtenSizes = new WeakMap<RuntimeValue, number>();

  constructor(variables: Readonly<Record<string, unknown>>) {
    super();
    // The globals of the library's own `Template`.
    const globals = {
      ...{ true: true, True: true, false: false, False: false, none: null, None: null },
      range: (...limits: readonly unknown[]) => this.range(limits),
      raise_exception: (message: unknown): never => {
        throw new Error(String(message));
      },
      strftime_now: (format: unknown) => new Template('{{ strftime_now(format) }}').render({ format }),
    };
    for (const [name, value] of Object.entries({ ...globals, ...variables })) this.global.set(name, value);
  }

  override evaluate(statement: Statement | undefined, environment: Environment): RuntimeValue {
    if (isEvaluated(statement)) return statement.result;
    this.count(1);
    const iterable = statement?.type === 'For' ? statement.iterable : undefined;
    if (iterable !== undefined) this.iterables.add(iterable);
    // `for x in list if x` iterates over the whole list.
    if (iterable?.type === 'SelectExpression' && iterable.lhs !== undefined) this.iterables.add(iterable.lhs);
    if (statement?.object !== undefined && strips.has(statement.property?.value)) this.stripped.add(statement.object);
    const result = super.evaluate(this.prepared(statement, environment), environment);
    if (statement !== undefined && this.stripped.has(statement)) this.giveStrips(result);
    this.count(this.stepsOf(statement, sizeOf(result)));
    // Serialising it would take all steps at once: a few lists that each hold another twice have billions of items.
    if (this.writtenSizeOf(result) > maxSteps * madeAStep) this.count(Infinity);
    return result;
  }

  /** Evaluates the operands first where the library does not do with them what Python does. */
  private prepared(statement: Statement | undefined, environment: Environment): Statement | undefined {
    const operator = statement?.type === 'BinaryExpression' ? statement.operator?.value : undefined;
    if (operator === '+' || operator === '~') {
      const left = this.evaluate(statement?.left, environment);
      const right = this.evaluate(statement?.right, environment);
      requireJoinable(operator, left, right);
      return { type: 'BinaryExpression', ...statement, left: evaluated(left), right: evaluated(right) };
    }
    if (statement?.type !== 'TestExpression') return statement;
    return { ...statement, operand: evaluated(asNumber(this.evaluate(statement.operand, environment))) };
  }

  /**
   * Counts characters and items, those of nested values included, as often as they occur. Infinite for a value that
   * contains itself.
   * @param now sizes that may change before the next call.
   */
  private writtenSizeOf(result: RuntimeValue, now = new Map<RuntimeValue, number>()): number {
    const { type, value } = result;
    if (typeof value === 'string') return value.length;
    if (!isContainer(value)) return 0;
    const known = this.writtenSizes.get(result) ?? now.get(result);
    if (known !== undefined) return known;
    now.set(result, Infinity);
    this.count(1 + Math.floor(sizeOf(result) / madeAStep));
    let size = 0;
    let lasts = type !== 'NamespaceValue';
    for (const item of value.values()) {
      size += 1 + this.writtenSizeOf(item, now);
      lasts &&= !isContainer(item.value) || this.writtenSizes.has(item);
    }
    (lasts ? this.writtenSizes : now).set(result, size);
    return size;
  }

  private stepsOf(statement: Statement | undefined, size: number): number {
    if (statement === undefined) return 0;
    if (this.iterables.has(statement)) return size;
    const reads = statement.type === 'Identifier' || statement.type === 'MemberExpression';
    return Math.floor(size / (reads ? readAStep : madeAStep));
  }

  private range(limits: readonly unknown[]): readonly number[] {
    const isWhole = (limit: unknown): limit is number => Number.isSafeInteger(limit);
    if (limits.length === 0 || !limits.every(isWhole)) throw new Error('range() takes whole numbers');
    const [first = 0, second, step = 1] = limits;
    if (step === 0) throw new Error('range() step must not be zero');
    const [start, stop] = second === undefined ? [0, first] : [first, second];
    const length = Math.max(0, Math.ceil((stop - start) / step));
    this.count(length);
    return Array.from({ length }, (_, index) => start + index * step);
  }

  /** The library's methods ignore which characters they are to take away. */
  private giveStrips({ value: text, builtins }: RuntimeValue): void {
    if (typeof text !== 'string') return;
    for (const [name, sides] of strips) {
      const strip = (chars: unknown): string => {
        if (typeof chars === 'string') this.count(Math.floor((text.length + chars.length) / madeAStep));
        return without(text, typeof chars === 'string' ? chars : null, sides);
      };
      builtins.set(String(name), new Environment().set('strip', strip));
    }
  }

  private count(steps: number): void {
    this.steps += steps;
    if (this.steps > maxSteps) throw new Error(`it takes more than ${maxSteps} steps`);
  }
}

function evaluated(result: RuntimeValue): Evaluated {
  return { type: 'Evaluated', result };
}

function isEvaluated(statement: Statement | undefined): statement is Evaluated {
  return statement?.type === 'Evaluated';
}

function requireJoinable(operator: '+' | '~', ...values: readonly RuntimeValue[]): void {
  const containers = values.filter(({ value }) => isContainer(value)).length;
  if (containers === 0 || (operator === '+' && containers === 2)) return;
  throw new JoinError(`it joins a text with a list or mapping by ${operator}`);
}

/** A number that is kept as a text is a number to `is number` and `is string`. */
function asNumber(result: RuntimeValue): RuntimeValue {
  const kept = typeof result.value === 'string' ? keptNumber(result.value) : undefined;
  return kept === undefined ? result : new Environment().set('number', kept);
}

function isContainer(value: unknown): value is readonly RuntimeValue[] | ReadonlyMap<string, RuntimeValue> {
  return Array.isArray(value) || value instanceof Map;
}

/** The number of characters or items of a value. */
function sizeOf({ value }: RuntimeValue): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return value instanceof Map ? value.size : 0;
}

/** As in Python, `chars` is a set of characters, and `null` means white space. */
function without(text: string, chars: string | null, sides: readonly Side[]): string {
  if (chars === null) return sides.reduce((rest, side) => (side === 'start' ? rest.trimStart() : rest.trimEnd()), text);
  const unwanted = new Set(chars);
  const points = Array.from(text);
  const isUnwanted = (index: number): boolean => unwanted.has(points[index] ?? '');
  let [start, end] = [0, points.length];
  if (sides.includes('start')) while (start < end && isUnwanted(start)) start += 1;
  if (sides.includes('end')) while (start < end && isUnwanted(end - 1)) end -= 1;
  return points.slice(start, end).join('');
}
