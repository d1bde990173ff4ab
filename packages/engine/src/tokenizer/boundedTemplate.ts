/** Jinja templates that end: their interpreter counts what it does. */
import { type Environment, Interpreter, type RuntimeValue, type Statement, Template } from '@huggingface/jinja';

/** About a second of computing. A conversation takes tens of steps a message. */
const maxSteps = 1_000_000;
/** Characters or items that are made in about the time of a step, and that are looked at. */
const madeAStep = 64;
const readAStep = 1024;

export class BoundedTemplate {
  private readonly program: Statement;

  /** @throws Error when it cannot be parsed. */
  constructor(source: string) {
    this.program = new Template(source).parsed;
  }

  /** @throws Error what the template raises, or that it does not end within `MAX_STEPS` steps. */
  render(variables: Readonly<Record<string, unknown>>): string {
    const { value } = new CountingInterpreter(variables).run(this.program);
    if (typeof value !== 'string') throw new Error('it gives no text');
    return value;
  }
}

/** Every statement and expression passes through `evaluate`, and so does what a loop goes through. */
class CountingInterpreter extends Interpreter {
  private steps = 0;
  /** Expressions that loops go through. */
  private readonly iterables = new Set<Statement>();
  /** Written sizes of lists and mappings that never change, because they hold no namespace. */
  private readonly writtenSizes = new WeakMap<RuntimeValue, number>();

  constructor(variables: Readonly<Record<string, unknown>>) {
    super();
    // What the library's own `Template` declares.
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
    this.count(1);
    const iterable = statement?.type === 'For' ? statement.iterable : undefined;
    if (iterable !== undefined) this.iterables.add(iterable);
    // `for x in list if x` goes through the whole list.
    if (iterable?.type === 'SelectExpression' && iterable.lhs !== undefined) this.iterables.add(iterable.lhs);
    const result = super.evaluate(statement, environment);
    this.count(this.stepsOf(statement, sizeOf(result)));
    // To write it out would take all steps at once: few lists that hold another twice have billions of items.
    if (this.writtenSizeOf(result) > maxSteps * madeAStep) this.count(Infinity);
    return result;
  }

  /**
   * Characters and items, those of items included, as often as they occur; infinite for what holds itself.
   * @param now sizes that may be others at the next call.
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

  private count(steps: number): void {
    this.steps += steps;
    if (this.steps > maxSteps) throw new Error(`it takes more than ${maxSteps} steps`);
  }
}

function isContainer(value: unknown): value is readonly RuntimeValue[] | ReadonlyMap<string, RuntimeValue> {
  return Array.isArray(value) || value instanceof Map;
}

/** Characters or items of a value. */
function sizeOf({ value }: RuntimeValue): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return value instanceof Map ? value.size : 0;
}
