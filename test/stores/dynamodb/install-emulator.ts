import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of DynamoDB Local, which AWS distributes as a jar. */
export const emulatorFolder: string = fileURLToPath(new URL('emulator/', import.meta.url));

/** The npm package that brings the jar. Its 298 dependencies are not needed. */
const PACKAGE = 'amplify-dynamodb-simulator';
const VERSION = '2.9.30';
const INTEGRITY =
  'sha512-xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ==';

/** Runs before the tests of the matrix, and downloads the emulator once. */
export default function setup(): void {
  if (existsSync(join(emulatorFolder, 'DynamoDBLocal.jar'))) return;
  // Beside its place, so that a move puts it there whole.
  const folder = mkdtempSync(`${emulatorFolder.slice(0, -1)}-`);
  try {
    run('npm', ['pack', `${PACKAGE}@${VERSION}`, '--loglevel=error', '--pack-destination', folder]);
    const archive = join(folder, `${PACKAGE}-${VERSION}.tgz`);
    checkIntegrity(archive);
    run('tar', ['-xzf', archive, '-C', folder, 'package/emulator']);
    rmSync(emulatorFolder, { recursive: true, force: true });
    renameSync(join(folder, 'package', 'emulator'), emulatorFolder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function checkIntegrity(archive: string): void {
  const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (integrity === INTEGRITY) return;
  throw new Error(`${PACKAGE}@${VERSION} is not what it was: its integrity is ${integrity}`);
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8', stdio: 'pipe' });
  if (status === 0) return;
  throw new Error(
    'DynamoDB Local, which the tests of DynamoDB need, could not be installed from the npm registry: ' +
      `${command} ${args.join(' ')}\n${error?.message ?? stderr}`,
  );
}
