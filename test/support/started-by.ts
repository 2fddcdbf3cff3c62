import { execFileSync } from 'node:child_process';

/** The numbers of the processes that a process has started, of those that these have started, and so on. */
export function startedBy(pid: number): number[] {
  const output = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid='], { encoding: 'utf8' });
  const processes = output.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const found = new Set([pid]);
  // A set gives what is added while it is gone through.
  for (const one of found) {
    for (const [child, parent] of processes) if (child !== undefined && parent === one) found.add(child);
  }
  found.delete(pid);
  return [...found];
}
