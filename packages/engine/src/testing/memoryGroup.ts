import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A control group of Linux that kills its processes when they take more memory than it has. */
export interface MemoryGroup {
  /** From now on, new memory of the process counts. */
  add(pid: number): Promise<void>;
  /** Its processes must have ended. */
  remove(): Promise<void>;
}

/** `null` if this process may not make one: on another system than Linux, or without the right. */
export async function makeMemoryGroup(maxBytes: number): Promise<MemoryGroup | null> {
  const name = `engraft-test-${process.pid}`;
  return (
    (await makeGroup(`/sys/fs/cgroup/memory/${name}`, 'memory.limit_in_bytes', maxBytes)) ??
    (await makeGroup(`/sys/fs/cgroup/${name}`, 'memory.max', maxBytes))
  );
}

/** The first version of control groups has a tree for memory; the second has one tree for everything. */
async function makeGroup(folder: string, limitFile: string, maxBytes: number): Promise<MemoryGroup | null> {
  try {
    await mkdir(folder);
  } catch {
    return null;
  }
  try {
    // Without the controller there is no such file.
    await readFile(join(folder, limitFile));
    await writeFile(join(folder, limitFile), String(maxBytes));
  } catch {
    await rmdir(folder);
    return null;
  }
  return {
    add: (pid) => writeFile(join(folder, 'cgroup.procs'), String(pid)),
    remove: () => rmdir(folder),
  };
}

export const noMemoryGroup = 'this process may not make a control group, so that no memory can be limited';
