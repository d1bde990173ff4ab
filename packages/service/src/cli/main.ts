import { isWrittenSoon } from '../startup/logOutput.js';
import { runCli } from './runCli.js';

// Node.js would print warnings as several lines of text. The service writes them to its log.
process.removeAllListeners('warning');
// The AWS SDK, which is loaded only for a bucket, would say on standard error what its releases of 2027 need.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
// A reader that has seen enough, such as `head`, is no failure. The rest of the command still runs.
let isOutputLost = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || isOutputLost) return;
  isOutputLost = true;
  process.stderr.write(`engraft: standard output cannot be written: ${error.message}\n`);
  process.exitCode = 1;
});
// If standard error fails, there is nowhere left to report to. The exit status remains.
process.stderr.on('error', () => undefined);
const status = await runCli(process.argv);
process.exitCode ??= status;
// Lines that nobody reads would keep the process alive for ever.
if (!(await isWrittenSoon(process.stderr))) process.exit();
