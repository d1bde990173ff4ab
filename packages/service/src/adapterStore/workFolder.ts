import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { crashPoint } from '../crashPoints.js';
import type { JobLease } from '../jobs/jobLease.js';
import { makeSyncedFolder } from '../syncFolder.js';

/**
 * One folder of a job for each fencing token, in the data folder: what one claim of a learning job writes before its
 * adapter enters the store. Files know no lease, so every claim has a folder of its own: a worker that has lost the job
 * writes where nobody reads. What finished phases left there survives a crash, for the next claim to resume, until the
 * job has ended.
 */
export async function openWorkFolder(data_folder: string, lease: JobLease): Promise<string> {
  const folder = locateClaim(data_folder, lease);
  await makeSyncedFolder(folder);
  return folder;
}

/** What one claim of a job wrote. */
export async function removeClaimFolder(data_folder: string, lease: JobLease): Promise<void> {
  await rm(locateClaim(data_folder, lease), { recursive: true, force: true });
  crashPoint('work.claim_removed');
}

export async function removeWorkFolder(data_folder: string, job_id: string): Promise<void> {
  await rm(locate(data_folder, job_id), { recursive: true, force: true });
  crashPoint('work.removed');
}

/** The jobs that have a work folder: those under way, and those whose worker died between their end and its removal. */
export async function listWorkFolders(data_folder: string): Promise<string[]> {
  return readdir(path.join(data_folder, 'work')).catch(() => []);
}

function locateClaim(data_folder: string, { job_id, fencing_token }: JobLease): string {
  return path.join(locate(data_folder, job_id), String(fencing_token));
}

function locate(data_folder: string, job_id: string): string {
  return path.join(data_folder, 'work', job_id);
}
