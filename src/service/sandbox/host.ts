import { BlockList, isIP, isIPv6 } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');
// The unspecified addresses: a connection to them ends on this machine.
loopback.addAddress('0.0.0.0');
loopback.addAddress('::', 'ipv6');

/**
 * Reads `host` or `host:port` in any spelling, and normalizes it: `127.1`, `0x7f.1` and `2130706433` become
 * 127.0.0.1. Returns undefined for any other text.
 */
export function readHost(text: string): URL | undefined {
  // A URL may hold a user name, a path or white space; a host may not.
  if (/[\s/\\?#@]/.test(text) || !URL.canParse(`http://${text}`)) return undefined;
  return new URL(`http://${text}`);
}

/** Returns true if the hostname of a URL leads to this machine only. */
export function isLoopback(hostname: string): boolean {
  const name = withoutDot(hostname);
  // RFC 6761, section 6.3: localhost and all names below it.
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  const address = withoutBrackets(name);
  // An IPv4 address that is mapped to IPv6 counts as the IPv4 address.
  return isIP(address) !== 0 && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Returns true if the hostname of a URL is an address, not a name. */
export function isAddress(hostname: string): boolean {
  return isIP(withoutBrackets(hostname)) !== 0;
}

/**
 * Returns true if the hostname of a URL is the host that a server listens on. An IPv6 address to listen on
 * does not have brackets.
 */
export function isSameHost(hostname: string, listeningHost: string): boolean {
  const listening = readHost(isIPv6(listeningHost) ? `[${listeningHost}]` : listeningHost);
  return listening !== undefined && withoutDot(listening.hostname) === withoutDot(hostname);
}

/** `localhost.` is `localhost`: a dot at the end marks a name that is complete. */
function withoutDot(hostname: string): string {
  return hostname.replace(/\.$/, '');
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
