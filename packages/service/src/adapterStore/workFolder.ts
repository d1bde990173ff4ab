import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { JobLease } from '../jobs/jobLease.js';

/**
 * One folder of a job for each fencing token, in the data folder: what one claim of a learning job writes before its
 * adapter enters the store. Files know no lease, so every claim has a folder of its own: a worker that has lost the job writes where nobody
 * reads. What finished phases left there survives a crash, for the next claim to resume, until the job has ended.
 */
export async function openWorkFolder(data_folder: string, { job_id, fencing_token }: JobLease): Promise<string> {
  const folder = path.join(locate(data_folder, job_id), String(fencing_token));
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
