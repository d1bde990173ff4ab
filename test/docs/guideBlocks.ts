/** Pages whose blocks of shell commands run one after the other, each with what it prints in the block after it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from './markdown.js';

interface ShellBlock {
  readonly commands: string;
  /** The expected output, with `…` for whatever may differ; `null` where the page shows nothing. */
  readonly output: string | null;
}

/** The blocks marked `sh`, and those marked `text` that follow them at once. */
export async function readShellBlocks(page: string): Promise<readonly ShellBlock[]> {
  const markdown = await readFile(path.join(root, 'docs', page), 'utf8');
  const blocks = markdown.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms);
  return [...blocks].map(([, commands = '', output]) => ({ commands, output: output ?? null }));
}

const boundary = '----- the next block -----';

/**
 * Runs all blocks of a page in one shell, which stops at the first command that fails, and compares what each prints.
 * `prelude` stands before them.
 */
export async function runBlocks(
  blocks: readonly ShellBlock[],
  prelude: string,
  environment: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  const script = [prelude, ...blocks.map(({ commands }) => `${commands}\necho '${boundary}'`)].join('\n');
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    ...environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => shell.on('close', resolve));
  const [printed, errors, status] = await Promise.all([text(shell.stdout), text(shell.stderr), ended]);
  assert.equal(status, 0, `${printed}\n${errors}`);
  const outputs = printed.split(`${boundary}\n`);
  for (const [index, { commands, output }] of blocks.entries())
    if (output !== null) assert.match(outputs[index] ?? '', patternOf(output), commands);
}

function patternOf(output: string): RegExp {
  const parts = output.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
