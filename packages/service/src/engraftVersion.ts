import { createRequire } from 'node:module';
import { z } from 'zod';

export const { version: engraftVersion } = z
  .object({ version: z.string() })
  .parse(createRequire(import.meta.url)('../package.json') as unknown);
