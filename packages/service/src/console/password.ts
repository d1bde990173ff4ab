import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';

/** As OWASP's "Password Storage Cheat Sheet" has it for 32 MiB: N 2^15, r 8, p 3. */
const cost = { log2N: 15, r: 8, p: 3 } as const;
const saltBytes = 16;
const hashBytes = 32;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** `scrypt$15$8$3$salt$hash`, in base64url: a hash says how it was made, so that later ones may cost more. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await hashOf(password, salt, cost);
  return ['scrypt', cost.log2N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** Without a stored hash it takes as long and fails, so that nobody learns by the time who has an account. */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  if (stored === null) {
    await hashOf(password, Buffer.alloc(saltBytes), cost);
    return false;
  }
  const match = /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([\w-]+)\$([\w-]+)$/.exec(stored);
  if (match === null) throw new Error('a stored password hash is malformed');
  const [, log2N, r, p, salt = '', hash = ''] = match;
  const made = await hashOf(password, Buffer.from(salt, 'base64url'), {
    log2N: Number(log2N),
    r: Number(r),
    p: Number(p),
  });
  return timingSafeEqual(made, Buffer.from(hash, 'base64url'));
}

interface Cost {
  readonly log2N: number;
  readonly r: number;
  readonly p: number;
}

function hashOf(password: string, salt: Buffer, { log2N, r, p }: Cost): Promise<Buffer> {
  const workFactor = 2 ** log2N;
  // People's keyboards compose letters differently.
  return derive(password.normalize('NFKC'), salt, hashBytes, { N: workFactor, r, p, maxmem: 129 * workFactor * r });
}
