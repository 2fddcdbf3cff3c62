import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresServer } from './servers.ts';

/** What the log of a server takes when it is new, and a little more. */
const SIZE = '40m';

/** A disk of its own for the log of a server (WAL). */
export interface SmallDisk {
  /** Takes all of its room, and what the server has of it: the next commits need more. */
  readonly fill: () => void;
  readonly free: () => void;
  /** Ends the server, and takes the disk away. */
  readonly remove: () => Promise<void>;
}

/** Whether this user may mount a disk. */
export function mayMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-mount-'));
  const { status } = mount(directory);
  if (status === 0) execFileSync('umount', [directory]);
  rmSync(directory, { recursive: true });
  return status === 0;
}

/** Moves the log of a server to a small disk, and starts the server again. */
export async function useSmallDisk(server: PostgresServer): Promise<SmallDisk> {
  await server.stop('fast');
  const disk = mkdtempSync(join(tmpdir(), 'posthorn-disk-'));
  const { status, stderr } = mount(disk);
  if (status !== 0) throw new Error(`the disk was not mounted: ${stderr}`);
  const log = join(server.directory, 'pg_wal');
  execFileSync('cp', ['--archive', log, join(disk, 'log')]);
  renameSync(log, `${log}-before`);
  symlinkSync(join(disk, 'log'), log);
  await server.restart();

  const filler = join(disk, 'filler');
  return {
    fill: () => {
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
      // The file that the log is in has room left. This ends it, and the next one cannot be made.
      server.sql('select pg_switch_wal()');
    },
    free: () => rmSync(filler),
    remove: async () => {
      await server.stop('kill');
      spawnSync('umount', ['--lazy', disk]);
      rmSync(disk, { recursive: true });
    },
  };
}

function mount(directory: string) {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', directory], { encoding: 'utf8' });
}
