import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/**
 * `<data>/work/<job>/`: what a learning job writes before its adapter enters the store. It survives a crash, so
 * that the job can resume, and is removed when the job has ended.
 */
export async function openWorkFolder(data_folder: string, job_id: string): Promise<string> {
  const folder = locate(data_folder, job_id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

export async function removeWorkFolder(data_folder: string, job_id: string): Promise<void> {
  await rm(locate(data_folder, job_id), { recursive: true, force: true });
}

/** The jobs that have a work folder: those under way, and those whose worker died between their end and its removal. */
export async function listWorkFolders(data_folder: string): Promise<string[]> {
  return readdir(path.join(data_folder, 'work')).catch(() => []);
}

function locate(data_folder: string, job_id: string): string {
  return path.join(data_folder, 'work', job_id);
}
