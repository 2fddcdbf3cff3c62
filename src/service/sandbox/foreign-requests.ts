import { isAddress, isLoopback, isSameHost, readHost } from './host.ts';
import { type MountedRequest, protocolOf } from './mounted-request.ts';
import { RefusedError } from './refused-error.ts';

/**
 * Refuses a request that a browser sends for a web page of another origin. The sandbox is open to anything
 * that reaches the loopback address, and every page in the developer's browser does.
 */
export function refuseForeignRequest(request: MountedRequest, listeningHost: string | undefined): void {
  const host = readHostHeader(request);
  for (const { hostname } of [host, ...targetHosts(request)]) {
    if (!isServed(hostname, request, listeningHost)) throw misdirected(hostname);
  }
  checkOrigin(request, host);
}

/** RFC 9112, section 3.2: 400 for a request whose Host is missing, repeated or malformed. */
function readHostHeader({ headersDistinct: { host: values = [] } }: MountedRequest): URL {
  const [value, ...others] = values;
  const host = value === undefined ? undefined : readHost(value);
  if (host !== undefined && others.length === 0) return host;
  throw new RefusedError(
    400,
    'Invalid Host',
    `a request must have one Host header, as localhost:4010; this one has ${JSON.stringify(values)}`,
  );
}

/** RFC 9112, section 3.2.2: a target in absolute form names the host as well. */
function targetHosts({ url = '', originalUrl = url }: MountedRequest): readonly URL[] {
  if (originalUrl.startsWith('/') || !URL.canParse(originalUrl)) return [];
  return [new URL(originalUrl)];
}

/**
 * A page can make its own name resolve to this machine (DNS rebinding), so the name of the host decides. It
 * cannot do that with an address, and over a network the sandbox is reached by an address.
 */
function isServed(hostname: string, { socket }: MountedRequest, listeningHost: string | undefined): boolean {
  if (isLoopback(hostname)) return true;
  if (listeningHost !== undefined && isSameHost(hostname, listeningHost)) return true;
  return isAddress(hostname) && socket.localAddress !== undefined && !isLoopback(socket.localAddress);
}

function misdirected(hostname: string): RefusedError {
  return new RefusedError(
    421,
    'Misdirected request',
    `the sandbox is not served as ${hostname}: use localhost, *.localhost, 127.0.0.0/8, [::1], the host ` +
      'that it listens on (posthorn sandbox --host, or listen(port, host)), or over a network its IP address',
  );
}

/**
 * curl, the client and other programs do not send these headers. Browsers do, and pages cannot change them.
 */
function checkOrigin(request: MountedRequest, { host }: URL): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const isOwnOrigin = origin === undefined || origin === `${protocolOf(request)}://${host}`;
  const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
  if (isOwnOrigin && isOwnSite) return;
  throw new RefusedError(
    403,
    'Foreign origin',
    `the sandbox does not serve a web page of another origin (${origin ?? `Sec-Fetch-Site: ${site}`}): ` +
      'call it from a program, without the headers Origin and Sec-Fetch-Site',
  );
}
