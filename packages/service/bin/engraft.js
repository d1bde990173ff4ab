#!/usr/bin/env node
// The command line itself is imported last: an older Node.js fails at its imports, with a stack trace.
import { existsSync, readFileSync } from 'node:fs';

const main = new URL('../dist/cli/main.js', import.meta.url);
const needed = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).engines.node.slice(2);
if (isOlder(process.versions.node, needed)) {
  fail(`Node.js ${process.versions.node} is too old: ${needed} or later is needed`);
} else if (existsSync(main)) {
  await import(main.href);
} else {
  fail('not built yet: run "npm ci && npm run build" first');
}

function isOlder(version, other) {
  const [[major, minor], [otherMajor, otherMinor]] = [version, other].map((each) => each.split('.').map(Number));
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

function fail(problem) {
  process.stderr.write(`engraft: ${problem}\n`);
  process.exitCode = 1;
}
