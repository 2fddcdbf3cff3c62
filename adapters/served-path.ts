import { invalidOption } from '../src/receiver/checks/check-options.ts';
import { propertyOf, show } from '../src/receiver/values/foreign-values.ts';
import type { Mountable } from '../src/receiver-interface.ts';
import { headersOf, type NodeRequest, type NodeResponse } from './node-http.ts';

/** Reads the option `path` of an adapter. */
export function readPath(path: unknown): string {
  if (typeof path !== 'string' || !/^\/[^?#]*$/.test(path)) {
    throw invalidOption('path', 'must begin with "/" and hold no "?" or "#"');
  }
  // Requests have any other character in its encoded form (RFC 3986, section 2.1).
  if (!/^[!-~]*$/.test(path))
    throw invalidOption('path', `must be encoded as in a URL: ${show(encodeURI(path))}`);
  try {
    decodedPath(path);
  } catch {
    throw invalidOption('path', `must be encoded as in a URL, with "%25" for "%"; got ${show(path)}`);
  }
  return pathOf(path);
}

/**
 * Decodes the characters that mean the same without their encoding (RFC 3986, section 6.2.2). A reserved one,
 * such as the slash, stays encoded. Throws URIError for what is not UTF-8.
 */
export function decodedPath(path: string): string {
  return decodeURI(path.replaceAll('%25', '%2525')).replace(/%../g, (code) => code.toUpperCase());
}

/** Returns true if a path that was asked for means the same as the option. */
export function isSamePath(requested: string, path: string): boolean {
  if (requested === path || !`${requested}${path}`.includes('%')) return requested === path;
  try {
    return decodedPath(requested) === decodedPath(path);
  } catch {
    return false;
  }
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

/** Path and query as the sender wrote them, with the prefix that a mount has taken out of `url`. */
export function urlOf({ url = '/', originalUrl = url }: Pick<NodeRequest, 'url' | 'originalUrl'>): string {
  return withoutOrigin(originalUrl);
}

/** A proxy may send the absolute form, perhaps without a path (RFC 9112, section 3.2.2). */
function withoutOrigin(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*\/?/i, '/');
}

/** The path of a request target, without its query and without a slash at its end. */
function pathOf(target = '/'): string {
  const url = withoutOrigin(target);
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  return (path.endsWith('/') ? path.slice(0, -1) : path) || '/';
}

/** Marks the response to a delivery that a receiver reports. The ESM and the CommonJS build share it. */
const REPORTED = Symbol.for('posthorn.misdirected');

/**
 * Returns true for the first receiver that finds its signature header in a POST, and false for all later
 * ones. The header comes first: requests of strangers to other paths pass every receiver that is mounted.
 */
export function isFirstToReport(receiver: Mountable, request: NodeRequest, response: NodeResponse): boolean {
  if (request.method !== 'POST') return false;
  if (receiver.hasSignature?.(headersOf(request)) === false) return false;
  if (propertyOf(response, REPORTED) === true) return false;
  Reflect.set(response, REPORTED, true);
  return true;
}

/**
 * Reports a delivery for another path once the application has answered 404. Without the report, a delivery
 * for a path that nothing serves would be lost in silence.
 */
export function reportIfNotFound(
  receiver: Mountable,
  request: NodeRequest,
  response: NodeResponse,
  paths: { readonly requested: string; readonly served: string },
): void {
  if (!isFirstToReport(receiver, request, response)) return;
  response.once?.('finish', () => {
    if (response.statusCode === 404) receiver.reportMisdirected?.(headersOf(request), paths);
  });
}
