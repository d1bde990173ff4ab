/** The part of `@huggingface/jinja` used here. Its own declarations fail like those of `@huggingface/tokenizers`. */
declare module '@huggingface/jinja' {
  /** A node of a parsed template. */
  export interface Statement {
    readonly type: string;
    /** The expression that a `For` iterates over. */
    readonly iterable?: Statement;
    /** In a `SelectExpression`, `lhs if …`. */
    readonly lhs?: Statement;
    /** In a `MemberExpression`, `object.property` or `object[property]`. */
    readonly object?: Statement;
    readonly property?: Statement;
    /** In a `BinaryExpression`, `left + right`. */
    readonly operator?: { readonly value: unknown };
    readonly left?: Statement;
    readonly right?: Statement;
    /** In a `TestExpression`, `operand is …`. */
    readonly operand?: Statement;
    /** The name of an `Identifier`, or what a literal says. */
    readonly value?: unknown;
  }
  export interface RuntimeValue {
    readonly type: string;
    readonly value: unknown;
    /** Methods and properties by name. A text has a map of its own. */
    readonly builtins: Map<string, RuntimeValue>;
  }
  export class Environment {
    /**
     * Declares a variable. Throws if the name is taken. The value is converted; a function is called with converted
     * arguments, and what it returns is converted.
     */
    set(name: string, value: unknown): RuntimeValue;
  }
  export class Interpreter {
    readonly global: Environment;
    run(program: Statement): RuntimeValue;
    evaluate(statement: Statement | undefined, environment: Environment): RuntimeValue;
  }
  export class Template {
    readonly parsed: Statement;
    /** Throws for a template that cannot be parsed. */
    constructor(source: string);
    render(variables?: Readonly<Record<string, unknown>>): string;
  }
}
