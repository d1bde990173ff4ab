import { runCli } from './runCli.js';

process.exitCode = await runCli(process.argv);
