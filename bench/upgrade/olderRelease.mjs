// An older release: the commit, and its build in a temporary folder.
import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npm } from '../../scripts/lib/steps.mjs';
import { root } from '../lib/measure.mjs';

const migrationsFolder = 'packages/service/src/db/migrations/';

/**
 * @param {string | null} name of a commit, or `null` for the newest one with fewer migrations than this release
 * @returns {{ commit: string, subject: string, migrations: number, migrationsNow: number }}
 * @throws Error if there is no such commit, or if its database cannot be brought to the schema of this release
 */
export function findOlderRelease(name) {
  const now = migrationsOf('HEAD');
  const commit = name === null ? newestBefore(now) : readCommit(name);
  const migrations = migrationsOf(commit);
  if (!areFirstOf(migrations, now))
    throw new Error(`the migrations of ${commit} are not the first of this release's, so it cannot be upgraded`);
  const subject = git('log', '-1', '--format=%s', commit);
  return { commit, subject, migrations: migrations.length, migrationsNow: now.length };
}

/** Commits of branches that were merged later, under other numbers, are passed over. */
function newestBefore(now) {
  const commits = git('rev-list', '--first-parent', 'HEAD').split('\n');
  const found = commits.find((commit) => {
    const migrations = migrationsOf(commit);
    return migrations.length < now.length && areFirstOf(migrations, now);
  });
  if (found === undefined) throw new Error('no older commit with fewer migrations is here; git fetch --unshallow');
  return found;
}

const areFirstOf = (migrations, now) => migrations.length > 0 && migrations.every((each, index) => each === now[index]);

function readCommit(name) {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`);
  } catch {
    throw new Error(`there is no commit ${name} here; git fetch --unshallow brings those that a shallow clone lacks`);
  }
}

/** Names with the hashes of their content, in order. */
function migrationsOf(commit) {
  return git('ls-tree', commit, migrationsFolder)
    .split('\n')
    .filter((line) => line !== '');
}

/**
 * Checks it out and builds it.
 * @returns {Promise<{ folder: string, remove: () => void }>}
 */
export function buildRelease(commit) {
  const parent = mkdtempSync(join(tmpdir(), 'engraft-upgrade-'));
  const folder = join(parent, 'release');
  const remove = () => {
    rmSync(parent, { recursive: true, force: true });
    git('worktree', 'prune');
  };
  try {
    git('worktree', 'add', '--quiet', '--detach', folder, commit);
    installDependencies(folder);
    execFileSync(process.execPath, [join(folder, 'scripts', 'build.mjs')], { cwd: folder, stdio: 'inherit' });
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, remove };
}

/** Those of this release where they are the same, or else from npm. */
function installDependencies(folder) {
  const lockfile = (place) => readFileSync(join(place, 'package-lock.json'), 'utf8');
  if (lockfile(folder) === lockfile(root)) return linkDependencies('node_modules', folder);
  const [command, args] = npm(['ci']);
  execFileSync(command, args, { cwd: folder, stdio: 'inherit' });
}

/** Packages of the repository are links already, and lead to those of the older release from its own folder. */
function linkDependencies(path, folder) {
  mkdirSync(join(folder, path));
  for (const name of readdirSync(join(root, path)).filter((each) => !each.startsWith('.'))) {
    const [from, to] = [join(root, path, name), join(folder, path, name)];
    if (name.startsWith('@')) linkDependencies(join(path, name), folder);
    else symlinkSync(lstatSync(from).isSymbolicLink() ? readlinkSync(from) : from, to);
  }
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}
