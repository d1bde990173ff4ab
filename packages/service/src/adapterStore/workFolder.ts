import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { crashPoint } from '../crashPoints.js';
import type { JobLease } from '../jobs/jobLease.js';
import { makeOwnFolder } from '../ownFolder.js';

/**
 * A job has a folder for each fencing token in the data folder, with what one claim of a learning job writes before its
 * adapter enters the store. Files know no lease, so every claim has its own folder: a worker that has lost the job
 * writes where nobody reads. The files of finished phases survive a crash, for the next claim to resume, until the job
 * has ended.
 */
export async function openWorkFolder(dataFolder: string, lease: JobLease): Promise<string> {
  const folder = locateClaim(dataFolder, lease);
  await makeOwnFolder(folder);
  return folder;
}

/** Removes what one claim of a job wrote. */
export async function removeClaimFolder(dataFolder: string, lease: JobLease): Promise<void> {
  await rm(locateClaim(dataFolder, lease), { recursive: true, force: true });
  crashPoint('work.claim_removed');
}

export async function removeWorkFolder(dataFolder: string, jobId: string): Promise<void> {
  await rm(locate(dataFolder, jobId), { recursive: true, force: true });
  crashPoint('work.removed');
}

/**
 * Lists the jobs that have a work folder: those under way, and those whose worker died between their end and its
 * removal.
 */
export async function listWorkFolders(dataFolder: string): Promise<string[]> {
  return readdir(path.join(dataFolder, 'work')).catch(() => []);
}

function locateClaim(dataFolder: string, { job_id, fencing_token }: JobLease): string {
  return path.join(locate(dataFolder, job_id), String(fencing_token));
}

function locate(dataFolder: string, jobId: string): string {
  return path.join(dataFolder, 'work', jobId);
}
