/** The part of `@huggingface/jinja` used here. Its own declarations fail like those of `@huggingface/tokenizers`. */
declare module '@huggingface/jinja' {
  /** A node of a parsed template. */
  export interface Statement {
    readonly type: string;
    /** The expression that a `For` iterates over. */
    readonly iterable?: Statement;
    /** In a `SelectExpression`, `lhs if …`. */
    readonly lhs?: Statement;
  }
  export interface RuntimeValue {
    readonly type: string;
    readonly value: unknown;
  }
  export class Environment {
    /** Declares a variable. Throws if the name is taken. */
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
