import type { IncomingMessage } from 'node:http';

/** A request, with the members that Express adds if the sandbox is mounted in an application. */
export interface MountedRequest extends IncomingMessage {
  /** The target as it was sent; `url` lacks the path below which the sandbox is mounted. */
  readonly originalUrl?: string;
  /** The path below which the sandbox is mounted. */
  readonly baseUrl?: string;
  readonly protocol?: string;
  /** The body, if a body parser has parsed it. */
  readonly body?: unknown;
}

/**
 * The target of a request, below the path where the sandbox is mounted. `path` is still percent-encoded;
 * `search` has its question mark, or is empty.
 */
export function targetOf({ url = '' }: MountedRequest): { readonly path: string; readonly search: string } {
  // RFC 9112, section 3.2.2: a target in absolute form begins with scheme and host.
  const target = url.replace(/^https?:\/\/[^/?]*/i, '');
  const [path = ''] = target.split('?', 1);
  return { path: path === '' ? '/' : path, search: target.slice(path.length) };
}

export function protocolOf({ protocol, socket }: MountedRequest): string {
  return protocol ?? ('encrypted' in socket ? 'https' : 'http');
}

/** The base address of the service's paths, as the sender of the request sees it. */
export function baseAddressOf(request: MountedRequest): string {
  return `${protocolOf(request)}://${request.headers.host}${request.baseUrl ?? ''}`;
}
