import { runCli } from './runCli.js';

// Node.js would print them as text, in several lines; the service writes them to its log.
process.removeAllListeners('warning');
// A reader that has seen enough, such as `head`, is no failure; what else the command does is done.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await runCli(process.argv);
