import { Problem } from '../problem.ts';
import { isOrigin } from './origin.ts';

/**
 * Throws a {@link Problem} for a deed that a browser sends for a page of another origin. Browsers set both
 * headers, and pages cannot change them. `Sec-Fetch-Site` comes first, because it holds behind any proxy; a
 * browser leaves it out without TLS. A request with neither header is not one of a browser.
 */
export function checkOrigin({ headers, url }: Request, expected: string | undefined): void {
  const site = headers.get('sec-fetch-site');
  if (site === 'same-origin') return;
  if (site !== null) throw foreign(`Sec-Fetch-Site: ${site}`, 'send it from a page of the same origin');
  const origin = headers.get('origin');
  if (origin === null) return;
  const isOwn =
    expected === undefined ? isOfHost(origin, headers.get('host') ?? new URL(url).host) : origin === expected;
  if (isOwn) return;
  const wayOut =
    expected === undefined
      ? 'if a proxy changes Host, set the option origin to the origin that browsers show'
      : `the option origin is ${expected}`;
  throw foreign(`Origin: ${origin}`, wayOut);
}

/** Leaves the scheme out of the comparison: a proxy that ends TLS does not tell it. */
function isOfHost(origin: string, host: string): boolean {
  if (!isOrigin(origin)) return false;
  const { host: own, protocol } = new URL(origin);
  const served = `${protocol}//${host}`;
  return URL.canParse(served) && new URL(served).host === own;
}

function foreign(header: string, wayOut: string): Problem {
  return new Problem(
    'origin_foreign',
    `a deed must come from the same origin, and this one has ${header}: ${wayOut}`,
  );
}
