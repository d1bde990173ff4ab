// `npm run quickstart`: from a clean clone to an answer out of the weights. Installs, builds, and runs `engraft
// quickstart`. `-- --model ORG/NAME` (or a folder, or a GGUF file) does it with another model than the shipped one.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';

requireNode();
console.log('\nEngraft quickstart\n');
const interrupted = 130;
process.once('SIGINT', endEarly);
await ensureInstalled();
await ensureBuilt();
const args = process.argv.slice(2).map(whereItWasTyped);
const program = join(root, 'packages', 'service', 'bin', 'engraft.js');
const child = spawn(process.execPath, [program, 'quickstart', ...args], { cwd: root, stdio: 'inherit' });
// A Ctrl-C reaches the command too, which says what it leaves. A supervisor may tell this process alone.
process.on('SIGINT', () => undefined);
process.off('SIGINT', endEarly);
for (const name of ['SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
child.on('exit', (code, signal) => (process.exitCode = code ?? (signal === 'SIGINT' ? interrupted : 1)));

/** The same Ctrl-C ends npm and the compiler. */
function endEarly() {
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
  console.error(
    'interrupted: nothing was started; what is installed and built remains. Run the same command to continue.',
  );
  process.exit(interrupted);
}

/** npm runs scripts in the root, wherever it was called: a file or folder is named from there. */
function whereItWasTyped(argument) {
  const [, flag = '', name] = /^(--model=)?(.*)$/s.exec(argument);
  const file = resolve(process.env.INIT_CWD ?? process.cwd(), name);
  const isFile = !name.startsWith('-') && (existsSync(file) || /\.gguf$/i.test(name));
  return flag + (isFile ? file : name);
}
