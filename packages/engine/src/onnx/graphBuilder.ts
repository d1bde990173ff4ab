/**
 * Builds ONNX models node by node. Values are known by their names, and every method that computes something returns
 * the name of the result.
 *
 * Field numbers are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
 */
import { ProtobufWriter } from './protobuf.js';

const elementTypes = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9, int4: 22 } as const;
const irVersion = 8;
const operatorSetVersion = 17;
/** `TensorProto.DataLocation` */
const externalLocation = 1;
/** ONNX Runtime's own operators (`FusedMatMul`, `RotaryEmbedding`, …). */
const microsoftDomain = 'com.microsoft';

export type ElementType = keyof typeof elementTypes;

/** A known size, or the name of one that is known at run time. */
export type Dimension = number | string;

export type Attribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly string: string }
  | { readonly ints: readonly number[] };

export type Attributes = Readonly<Record<string, Attribute>>;

export class GraphBuilder {
  private readonly nodes: ProtobufWriter[] = [];
  private readonly inputs: ProtobufWriter[] = [];
  private readonly outputs: ProtobufWriter[] = [];
  private readonly initializers: ProtobufWriter[] = [];
  private readonly constants = new Map<string, string>();
  private readonly shapes: ProtobufWriter[] = [];
  private readonly inputNames = new Set<string>();
  private readonly externalNames = new Set<string>();
  private nameCount = 0;

  /** Declares a graph input. Later declarations of the same name return the first. */
  input(name: string, type: ElementType, shape: readonly Dimension[]): string {
    if (!this.inputNames.has(name)) {
      this.inputNames.add(name);
      this.inputs.push(valueInfo(name, type, shape));
    }
    return name;
  }

  /**
   * Declares a constant whose bytes the session gets separately, as `constants` of `Session.create`, because a
   * serialised model holds less than 2 GiB. Later declarations of the same name return the first.
   */
  externalConstant(name: string, type: ElementType, shape: readonly number[]): string {
    if (!this.externalNames.has(name)) {
      this.externalNames.add(name);
      const tensor = new ProtobufWriter();
      for (const size of shape) tensor.integer(1, size);
      tensor.integer(2, elementTypes[type]).string(8, name);
      tensor.message(13, new ProtobufWriter().string(1, 'location').string(2, name));
      this.initializers.push(tensor.integer(14, externalLocation));
    }
    return name;
  }

  get externalConstants(): readonly string[] {
    return [...this.externalNames];
  }

  /**
   * Says which shape a result has, where its operator does not tell. ONNX Runtime uses the memory of results again for
   * others of the same shape. It compares each result with all whose shape no other has, so that sessions of large
   * graphs open in a fraction of the time if few shapes are unknown. Sizes of one name must be equal in every run.
   */
  shaped(name: string, type: ElementType, shape: readonly Dimension[]): string {
    this.shapes.push(valueInfo(name, type, shape));
    return name;
  }

  /** Declares the graph output `name`. A node computes it under that name. */
  declareOutput(name: string, type: ElementType, shape: readonly Dimension[]): void {
    this.outputs.push(valueInfo(name, type, shape));
  }

  /** Declares the graph output `name` with the content of `value`. */
  output(name: string, value: string, type: ElementType, shape: readonly Dimension[]): void {
    this.addNode('Identity', [value], {}, '', [name]);
    this.declareOutput(name, type, shape);
  }

  /** A float32 scalar. */
  float(value: number): string {
    return this.constant('float32', [], Float32Array.of(value));
  }

  /** A uint8 scalar. */
  byte(value: number): string {
    return this.constant('uint8', [], Uint8Array.of(value));
  }

  /** A float32 vector that repeats one number. */
  floats(length: number, value: number): string {
    return this.constant('float32', [length], new Float32Array(length).fill(value));
  }

  /** An int64 scalar. */
  integer(value: number): string {
    return this.constant('int64', [], BigInt64Array.of(BigInt(value)));
  }

  /** An int64 vector. */
  integers(values: readonly number[]): string {
    return this.constant('int64', [values.length], BigInt64Array.from(values, BigInt));
  }

  /** A node of the standard operator set with one result. */
  node(type: string, inputs: readonly string[], attributes: Attributes = {}): string {
    const output = this.freshName(type);
    this.addNode(type, inputs, attributes, '', [output]);
    return output;
  }

  /** A node of the standard operator set with results of the given names. */
  nodeInto(type: string, inputs: readonly string[], attributes: Attributes, outputs: readonly string[]): void {
    this.addNode(type, inputs, attributes, '', outputs);
  }

  /** One of ONNX Runtime's own operators, with one result. */
  microsoftNode(type: string, inputs: readonly string[], attributes: Attributes = {}): string {
    const output = this.freshName(type);
    this.addNode(type, inputs, attributes, microsoftDomain, [output]);
    return output;
  }

  /** One of ONNX Runtime's own operators with results of the given names. Unwanted results have an empty name. */
  microsoftNodeInto(type: string, inputs: readonly string[], attributes: Attributes, outputs: readonly string[]): void {
    this.addNode(type, inputs, attributes, microsoftDomain, outputs);
  }

  /** A name that no other value of this graph has. */
  freshName(prefix: string): string {
    this.nameCount += 1;
    return `${prefix}_${this.nameCount}`;
  }

  /** The serialised `ModelProto`. */
  encode(): Buffer {
    const graph = new ProtobufWriter();
    for (const node of this.nodes) graph.message(1, node);
    graph.string(2, 'engraft');
    for (const initializer of this.initializers) graph.message(5, initializer);
    for (const input of this.inputs) graph.message(11, input);
    for (const output of this.outputs) graph.message(12, output);
    for (const shape of this.shapes) graph.message(13, shape);
    return new ProtobufWriter()
      .integer(1, irVersion)
      .string(2, 'engraft')
      .message(7, graph)
      .message(8, operatorSet('', operatorSetVersion))
      .message(8, operatorSet(microsoftDomain, 1))
      .finish();
  }

  private constant(
    type: ElementType,
    shape: readonly number[],
    data: Float32Array | BigInt64Array | Uint8Array,
  ): string {
    const key = `${type} ${shape.join()} ${data.join()}`;
    const known = this.constants.get(key);
    if (known !== undefined) return known;
    const name = this.freshName('constant');
    const tensor = new ProtobufWriter();
    for (const size of shape) tensor.integer(1, size);
    tensor.integer(2, elementTypes[type]).string(8, name);
    tensor.bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    this.initializers.push(tensor);
    this.constants.set(key, name);
    return name;
  }

  private addNode(
    type: string,
    inputs: readonly string[],
    attributes: Attributes,
    domain: string,
    outputs: readonly string[],
  ): void {
    const node = new ProtobufWriter();
    for (const input of inputs) node.string(1, input);
    for (const output of outputs) node.string(2, output);
    node.string(3, this.freshName('node')).string(4, type);
    for (const [name, value] of Object.entries(attributes)) node.message(5, attribute(name, value));
    if (domain !== '') node.string(7, domain);
    this.nodes.push(node);
  }
}

function operatorSet(domain: string, version: number): ProtobufWriter {
  return new ProtobufWriter().string(1, domain).integer(2, version);
}

function attribute(name: string, value: Attribute): ProtobufWriter {
  const writer = new ProtobufWriter().string(1, name);
  if ('float' in value) return writer.float(2, value.float).integer(20, 1);
  if ('int' in value) return writer.integer(3, value.int).integer(20, 2);
  if ('string' in value) return writer.string(4, value.string).integer(20, 3);
  for (const item of value.ints) writer.integer(8, item);
  return writer.integer(20, 7);
}

function valueInfo(name: string, type: ElementType, shape: readonly Dimension[]): ProtobufWriter {
  const dimensions = new ProtobufWriter();
  for (const size of shape) {
    const dimension = new ProtobufWriter();
    dimensions.message(1, typeof size === 'number' ? dimension.integer(1, size) : dimension.string(2, size));
  }
  const tensorType = new ProtobufWriter().integer(1, elementTypes[type]).message(2, dimensions);
  return new ProtobufWriter().string(1, name).message(2, new ProtobufWriter().message(1, tensorType));
}
