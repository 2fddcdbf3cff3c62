import { execFile } from 'node:child_process';
import type { Authentication } from 'posthorn';
import { expect, test } from 'vitest';
import { BASIC, BEARER, Endpoint, KEY, type Mount, PASSWORD, TOKEN, transfer, USERNAME } from './endpoint.ts';

/** Nothing of posthorn signs or sends here: openssl does the one, curl the other. */
export function fromOutside(mount: Mount): void {
  const senders: [name: string, authentication: Authentication, args: string[]][] = [
    ['BASIC', BASIC, ['--user', `${USERNAME}:${PASSWORD}`]],
    ['BEARER', BEARER, ['--header', `Authorization: Bearer ${TOKEN}`]],
  ];
  for (const [name, authentication, credentials] of senders) {
    test(`a delivery signed by openssl and sent by curl with ${name} credentials`, async () => {
      const endpoint = await Endpoint.open(mount, { options: { authentication } });
      const event = transfer();
      const body = JSON.stringify(event);
      const signature = await signWithOpenssl(body);
      const send = (bytes: string, args = credentials): Promise<string> =>
        run(
          'curl',
          [
            ...['--silent', '--show-error', '--noproxy', '*', '--write-out', ' %{http_code}'],
            ...[
              '--header',
              'Content-Type: application/json',
              '--header',
              `X-Service-Signature: ${signature}`,
            ],
            ...[...args, '--data-binary', '@-', endpoint.url],
          ],
          bytes,
        );
      const processed = JSON.stringify({ outcome: 'processed', id: event.id });
      const duplicate = JSON.stringify({ outcome: 'duplicate', id: event.id });
      expect(await send(body.replace('1250', '1251'))).toMatch(/"signature_mismatch"\} 403$/);
      expect(await send(body)).toBe(`${processed} 200`);
      expect(await send(body)).toBe(`${duplicate} 200`);
      expect(await send(body, [])).toMatch(/"credentials_invalid"\} 401$/);
    });
  }
}

async function signWithOpenssl(body: string): Promise<string> {
  const output = await run('openssl', ['dgst', '-sha256', '-hmac', KEY], body);
  const [signature] = /[0-9a-f]{64}$/m.exec(output) ?? [];
  if (signature === undefined) throw new Error(`openssl said: ${output}`);
  return signature;
}

function run(command: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    child.stdin?.end(input);
  });
}
