import { isWrittenSoon } from '../processes/logOutput.js';
import { runCli } from './runCli.js';

// Node.js would print them as text, in several lines; the service writes them to its log.
process.removeAllListeners('warning');
// A reader that has seen enough, such as `head`, is no failure; what else the command does is done.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
// What cannot be said there can be said nowhere; the exit status remains.
process.stderr.on('error', () => undefined);
process.exitCode = await runCli(process.argv);
// Lines that nobody reads would keep the process for ever.
if (!(await isWrittenSoon(process.stderr))) process.exit();
