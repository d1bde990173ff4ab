import { accessSync, constants } from 'node:fs';
import path from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'] as const;

/** An installed Chromium: that of ENGRAFT_TEST_CHROMIUM, or one on the PATH; `null` when there is none. */
export function findBrowser(): string | null {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const candidates = [
    process.env['ENGRAFT_TEST_CHROMIUM'] ?? '',
    ...names.flatMap((name) => folders.map((folder) => path.join(folder, name))),
  ];
  return candidates.find((file) => file !== '' && isExecutable(file)) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
