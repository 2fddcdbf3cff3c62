import { execFileSync } from 'node:child_process';

/** The hex HMAC-SHA256 of a body, by a program that shares no code with this package. */
export function signedByOpenssl(body: string | Uint8Array, key: string): string {
  const output = execFileSync('openssl', ['dgst', '-sha256', '-r', '-hmac', key], {
    input: body,
    encoding: 'utf8',
  });
  return output.slice(0, 64);
}
