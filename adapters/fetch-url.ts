import { propertyOf } from '../src/receiver/values/foreign-values.ts';

/**
 * Returns the path and the query of a request.
 *
 * The text of `url` is cut, because `search` of a parsed URL does not tell an empty query from none. A
 * request of another realm may have no `url`.
 */
export function urlOf(request: Request): string | undefined {
  const url = propertyOf(request, 'url');
  return typeof url === 'string' ? url.replace(/^[^/?#]*:\/\/[^/?#]*|#.*$/g, '') : undefined;
}
