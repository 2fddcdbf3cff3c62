import { statfsSync } from 'node:fs';

/** `f_type` of statfs(2) on Linux: the file systems whose files lie on another machine. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
]);

/**
 * The kind of network file system that a file lies on; undefined if it does not, or cannot be known. The
 * processes that have a file in WAL mode open share memory, which those of two machines cannot:
 * https://sqlite.org/wal.html.
 */
export function networkFileSystemOf(path: string): string | undefined {
  try {
    // The number is signed on some platforms.
    return NETWORK_FILE_SYSTEMS.get(statfsSync(path).type >>> 0);
  } catch {
    return undefined;
  }
}
