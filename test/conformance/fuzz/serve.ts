import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { openConformanceService } from '../service.js';

/**
 * The service for a fuzzer: prints its address and a key with all scopes, and runs until it is told to stop. Nothing
 * runs the jobs, so chat completions do not wait for theirs.
 */
const logger = pino({ level: 'error' }, pino.destination(2));
const service = await openConformanceService({ chatWaitMs: 0, logger }, { durable: false });
await service.app.app.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' });
const { port } = service.app.app.server.address() as AddressInfo;
process.stdout.write(`http://127.0.0.1:${port} ${service.key.secret}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void service.close());
