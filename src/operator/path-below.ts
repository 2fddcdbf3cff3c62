import { isSamePath } from '../../adapters/served-path.ts';

/** The rest of the first path that is that of the mount, or below it; undefined if none is. */
export function pathBelow(mount: string, requested: readonly string[]): string | undefined {
  if (mount === '/') return requested[0];
  for (const path of requested) {
    const end = endOfParts(path, mount.split('/').length);
    if (isSamePath(path.slice(0, end), mount)) return path.slice(end);
  }
  return undefined;
}

/** The index at which a path of so many parts ends. */
function endOfParts(path: string, parts: number): number {
  let end = 0;
  for (let count = 1; count < parts; count += 1) {
    const slash = path.indexOf('/', end + 1);
    if (slash === -1) return path.length;
    end = slash;
  }
  return end;
}
