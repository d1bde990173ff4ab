import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { z } from 'zod';

/** npm installs from it as it does from the real one, without a network. */
export interface LocalRegistry {
  readonly url: string;
  /** The packages that were asked for, in this order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const strings = z.record(z.string(), z.string()).optional();

/** An entry of `package-lock.json`: what a registry tells of a version. */
const lockedVersion = z.object({
  version: z.string(),
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
  dependencies: strings,
  optionalDependencies: strings,
  peerDependencies: strings,
  peerDependenciesMeta: z.record(z.string(), z.unknown()).optional(),
  engines: z.union([strings, z.array(z.string())]),
  os: z.array(z.string()).optional(),
  cpu: z.array(z.string()).optional(),
  libc: z.array(z.string()).optional(),
});

const lockfile = z.object({ packages: z.record(z.string(), z.unknown()) });

/** Serves every package that the lockfile of `root` names, out of what is installed there. Needs `tar`. */
export async function startLocalRegistry(root: string): Promise<LocalRegistry> {
  const asked: string[] = [];
  const versions = readVersions(path.join(root, 'package-lock.json'));
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    const at = searchParams.get('at');
    if (at !== null && versions.some((each) => each.at === at) && existsSync(path.join(root, at))) {
      sendTarball(path.join(root, at), response);
      return;
    }
    const name = decodeURIComponent(pathname.slice(1));
    asked.push(name);
    const found = versions.filter((each) => each.name === name);
    response.statusCode = found.length === 0 ? 404 : 200;
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(found.length === 0 ? {} : describePackage(name, found, url)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface LockedPackage {
  readonly name: string;
  /** Where it is installed, from the root on. */
  readonly at: string;
  readonly manifest: z.infer<typeof lockedVersion>;
}

function readVersions(file: string): LockedPackage[] {
  const { packages } = lockfile.parse(JSON.parse(readFileSync(file, 'utf8')));
  return Object.entries(packages).flatMap(([at, entry]) => {
    const name = /^.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(at)?.[1];
    // Links lead to the packages of this repository, which no registry has.
    if (name === undefined || name.startsWith('@engraft/')) return [];
    return [{ name, at, manifest: lockedVersion.parse(entry) }];
  });
}

function describePackage(name: string, found: readonly LockedPackage[], url: string): object {
  const described = found.map(({ at, manifest }) => {
    const tarball = `${url}/${name}?at=${encodeURIComponent(at)}`;
    return [manifest.version, { name, ...manifest, dist: { tarball } }] as const;
  });
  return { name, 'dist-tags': { latest: found[0]?.manifest.version }, versions: Object.fromEntries(described) };
}

/** npm unpacks a tar archive that is not compressed as well, and drops the first part of each path whatever it is. */
function sendTarball(folder: string, response: NodeJS.WritableStream): void {
  const others = ['darwin', 'linux', 'win32'].filter((platform) => platform !== process.platform);
  // Libraries for other systems are most of it.
  const leftOut = ['node_modules', ...others.map((platform) => `onnxruntime-node/bin/napi-v6/${platform}`)];
  const flags = leftOut.map((pattern) => `--exclude=${pattern}`);
  const child = spawn('tar', ['-cf', '-', ...flags, path.basename(folder)], {
    cwd: path.dirname(folder),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.pipe(response);
}
