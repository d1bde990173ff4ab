/**
 * Sessions that serve. Their constants lie in files while ONNX Runtime arranges them, so that they are not in memory
 * twice.
 */
import { rmSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { EngineError } from '../engine.js';
import type { InferenceGraph } from '../model/inferenceGraph.js';
import { constantBytes, type ConstantBytes, type ConstantSource } from '../model/servingWeights.js';
import { Session } from '../onnx/session.js';
import { newConstantFolder, removeLeftConstants } from './constantFolder.js';

/**
 * The files are where the system keeps temporary ones: on the machine itself, since ONNX Runtime goes on reading small
 * constants out of them. Where they cannot be written, the constants are read into memory, with a warning of the
 * process.
 * @throws EngineError `checkpoint_invalid` when the weights cannot be read.
 */
export async function createServingSession(
  { model, constants: names }: InferenceGraph,
  source: ConstantSource,
  threads: number,
): Promise<Session> {
  const folder = newConstantFolder();
  // Where files that are still mapped cannot be removed, a later session removes them, see `removeLeftConstants`.
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true }).catch(() => undefined);
  // The process may be told to end meanwhile.
  const removeAtExit = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 0 });
  process.once('exit', removeAtExit);
  try {
    try {
      await removeLeftConstants();
      // Nobody else may put other numbers there.
      await mkdir(folder, { mode: 0o700 });
      for (const name of names) await writeConstant(path.join(folder, name), name, source);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      process.emitWarning(`The weights are in memory twice for a while, as files of them cannot be written: ${reason}`);
      // The disk may be full of them.
      await remove();
      return await Session.create(model, { threads, constants: await constantsInMemory(names, source) });
    }
    return await Session.create(model, { threads, constants: { folder } });
  } finally {
    await remove();
    process.off('exit', removeAtExit);
  }
}

async function writeConstant(file: string, name: string, source: ConstantSource): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    for await (const bytes of constantBytes(name, source)) await handle.appendFile(bytes);
  } finally {
    await handle.close();
  }
}

async function constantsInMemory(names: readonly string[], source: ConstantSource): Promise<ConstantBytes> {
  const constants = new Map<string, Uint8Array>();
  for (const name of names) {
    const copies: Uint8Array[] = [];
    for await (const bytes of constantBytes(name, source)) copies.push(Uint8Array.from(bytes));
    constants.set(name, Buffer.concat(copies));
  }
  return constants;
}
