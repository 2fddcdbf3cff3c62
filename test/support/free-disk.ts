import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const NEEDED_GB = 1;

/** Names the folder for temporary files, where servers write, if a run needs more room than it has. */
export function missingDisk(folder: string = tmpdir()): string | undefined {
  const { bavail, bsize } = statfsSync(folder);
  const freeGb = (bavail * bsize) / 1e9;
  if (freeGb >= NEEDED_GB) return undefined;
  return (
    `No test has run, because ${folder} has ${freeGb.toFixed(1)} GB of free disk, and the tests need ${NEEDED_GB} GB. ` +
    'Set TMPDIR to a folder of another disk, or run `npm run test:quick`, which writes next to nothing.'
  );
}
