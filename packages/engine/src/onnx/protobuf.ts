/**
 * Writes the protocol-buffer wire format, as far as ONNX models need it
 * (https://protobuf.dev/programming-guides/encoding/).
 */
const varint = 0;
const lengthDelimited = 2;
const fixed32 = 5;

export class ProtobufWriter {
  private readonly chunks: Uint8Array[] = [];
  private length = 0;

  /** Writes two's complement over 64 bits, like protobuf's `int32` and `int64`. */
  integer(field: number, value: number): this {
    return this.tag(field, varint).varint(value);
  }

  float(field: number, value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value);
    return this.tag(field, fixed32).push(bytes);
  }

  string(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value, 'utf8'));
  }

  /** References the bytes without copying them until `finish`. */
  bytes(field: number, value: Uint8Array): this {
    return this.tag(field, lengthDelimited).varint(value.byteLength).push(value);
  }

  message(field: number, value: ProtobufWriter): this {
    this.tag(field, lengthDelimited).varint(value.length);
    for (const chunk of value.chunks) this.push(chunk);
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.chunks, this.length);
  }

  private tag(field: number, wireType: number): this {
    return this.varint(field * 8 + wireType);
  }

  private varint(value: number): this {
    let rest = BigInt.asUintN(64, BigInt(value));
    const bytes: number[] = [];
    while (rest > 0x7fn) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    return this.push(Uint8Array.from(bytes));
  }

  private push(bytes: Uint8Array): this {
    this.chunks.push(bytes);
    this.length += bytes.byteLength;
    return this;
  }
}
