/**
 * Tar archives as POSIX defines them (ustar), so that the tools of every system can look into a backup. They hold only
 * files.
 */
const blockBytes = 512;

export interface TarEntry {
  readonly name: string;
  readonly size: number;
  /** Must be read to its end before the next entry is asked for. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** The archive ends too early, or is none. */
export class TarError extends Error {
  override readonly name = 'TarError';
}

/**
 * One file: its header, its bytes, and the padding of the last block. Throws if `content` does not have `size` bytes.
 */
export async function* tarFile(
  name: string,
  size: number,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield tarHeader(name, size);
  let written = 0;
  for await (const bytes of content) {
    written += bytes.byteLength;
    yield bytes;
  }
  if (written !== size) throw new TarError(`${name} has ${written} bytes instead of ${size}`);
  yield new Uint8Array(paddingOf(size));
}

/** The end mark, after the last file. */
export const tarEnd: Uint8Array = new Uint8Array(2 * blockBytes);

/** The files of an archive, in their order. */
export async function* readTar(archive: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = new ByteReader(archive);
  for (;;) {
    const header = await reader.read(blockBytes);
    if (header.every((byte) => byte === 0)) return;
    const { name, size } = parseHeader(header);
    const content = reader.stream(size);
    yield { name, size, content };
    await passOver(content);
    await reader.read(paddingOf(size));
  }
}

/** Reads to the end. */
export async function passOver(content: AsyncIterable<Uint8Array>): Promise<void> {
  const pieces = content[Symbol.asyncIterator]();
  while ((await pieces.next()).done !== true);
}

function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

/** The start and length of each field. */
const fields = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
  prefix: [345, 155],
} as const;

function tarHeader(path: string, size: number): Uint8Array {
  const header = Buffer.alloc(blockBytes);
  const put = (field: keyof typeof fields, text: string): void => {
    const [at, length] = fields[field];
    if (Buffer.byteLength(text) > length) throw new TarError(`'${text}' is too long for the ${field} of a file`);
    header.write(text, at);
  };
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  // A long path is split at its last slash.
  const cut = Buffer.byteLength(path) > fields.name[1] ? path.lastIndexOf('/') : -1;
  put('prefix', path.slice(0, Math.max(cut, 0)));
  put('name', path.slice(cut + 1));
  put('mode', octal(0o600, 7));
  put('uid', octal(0, 7));
  put('gid', octal(0, 7));
  put('size', octal(size, 11));
  put('mtime', octal(0, 11));
  put('type', '0');
  put('magic', 'ustar\u000000');
  put('checksum', `${octal(checksumOf(header), 6)} `);
  return header;
}

function parseHeader(header: Buffer): { readonly name: string; readonly size: number } {
  const get = (field: keyof typeof fields): string => {
    const [at, length] = fields[field];
    const bytes = header.subarray(at, at + length);
    const end = bytes.indexOf(0);
    return bytes.toString('utf8', 0, end === -1 ? length : end);
  };
  if (!get('magic').startsWith('ustar') || Number.parseInt(get('checksum'), 8) !== checksumOf(header)) {
    throw new TarError('it is not a tar archive');
  }
  const prefix = get('prefix');
  return { name: prefix === '' ? get('name') : `${prefix}/${get('name')}`, size: Number.parseInt(get('size'), 8) };
}

/** The sum of all bytes, with the checksum's own field counted as spaces. */
function checksumOf(header: Buffer): number {
  const [at, length] = fields.checksum;
  return header.reduce((sum, byte, index) => sum + (index >= at && index < at + length ? 0x20 : byte), 0);
}

/** Takes exactly as many bytes from a stream as it is asked for. */
class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #piece: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  async read(bytes: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of this.stream(bytes)) parts.push(part);
    return Buffer.concat(parts);
  }

  async *stream(bytes: number): AsyncGenerator<Buffer> {
    let left = bytes;
    while (left > 0) {
      if (this.#piece.byteLength === 0) {
        const next = await this.#pieces.next();
        if (next.done === true) throw new TarError('it ends too early');
        this.#piece = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
      }
      const part = this.#piece.subarray(0, left);
      this.#piece = this.#piece.subarray(part.byteLength);
      left -= part.byteLength;
      yield part;
    }
  }
}
