import { invalidOption } from '../src/check-options.ts';
import type { NodeRequest } from './node-http.ts';

/** Reads the option `path` of an adapter. */
export function readPath(path: unknown): string {
  if (typeof path === 'string' && /^\/[^?#]*$/.test(path)) return pathOf(path);
  throw invalidOption('path', 'must begin with "/" and hold no "?" or "#"');
}

/**
 * The paths by which a request may be known. Express and Connect take the prefix of a mount out of `url`, and
 * keep the whole in `originalUrl`.
 */
export function pathsOf({ url, originalUrl }: Pick<NodeRequest, 'url' | 'originalUrl'>): readonly string[] {
  return originalUrl === undefined || originalUrl === url
    ? [pathOf(url)]
    : [pathOf(originalUrl), pathOf(url)];
}

/** The path of a request target, without its query and without a slash at its end. */
export function pathOf(target = '/'): string {
  // A proxy may send the absolute form (RFC 9112, section 3.2.2).
  const url = target.replace(/^https?:\/\/[^/?]*/i, '');
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  return (path.endsWith('/') ? path.slice(0, -1) : path) || '/';
}
