/** Tokenizers that differ from a fixture's in some of their files, for tests. */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { TINY_TOKENIZER } from './randomCheckpoint.js';

/**
 * Runs `use` with a folder of a tokenizer's files, the tiny one's unless told otherwise, some of them changed; `null`
 * removes one.
 */
export async function withTokenizerFiles(
  changes: Readonly<Record<string, string | null>>,
  use: (folder: string) => void | Promise<void>,
  original = TINY_TOKENIZER,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'engraft-tokenizer-'));
  try {
    await cp(original, folder, { recursive: true });
    for (const [file, content] of Object.entries(changes)) {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true });
      if (content === null) await rm(path);
      else await writeFile(path, content);
    }
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
