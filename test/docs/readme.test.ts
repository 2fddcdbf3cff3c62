import { createServer } from 'node:http';
import { createReceiver, type ReceiverOptions, type Report } from 'posthorn';
import { toNode } from 'posthorn/node';
import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { RawConnection } from '../adapters/raw-connection.ts';
import { documents, readme } from '../support/documents.ts';
import { listenUntilTheEnd } from '../support/listen.ts';

/** The bytes of the request on the page: its lines end as those of HTTP do, and its body has no line end. */
function requestOfPage(): string {
  const page = documents.find(({ path }) => path === 'docs/providers.md');
  const [{ code = '' } = {}] = page?.blocks.filter(({ language }) => language === 'text') ?? [];
  return code.trimEnd().replaceAll('\n', '\r\n');
}

describe('the request of the banking service in docs/providers.md', () => {
  const request = requestOfPage();
  const authentication = { type: 'BASIC', basic: { username: 'billing', password: 'hello' } } as const;

  async function answerTo(bytes: string, options: Partial<ReceiverOptions> = {}) {
    const reports: Report[] = [];
    // The request has a fixed time, so its age is not checked.
    const common = { signingKey: 'secret', authentication, maxEventAgeMs: Number.POSITIVE_INFINITY };
    const receiver = createReceiver({ ...common, ...options });
    receiver.on('transfer.succeeded', () => {}).observe((report) => reports.push(report));
    const url = await listenUntilTheEnd(createServer(toNode(receiver, { path: '/webhooks' })));
    const connection = await RawConnection.open(url);
    const { status } = await connection.write(bytes).answer();
    return { status, code: reports[0]?.code };
  }

  test('is one that a receiver handles, with its key and its credentials', async () => {
    expect(await answerTo(request)).toEqual({ status: 200, code: undefined });
  });

  test('is refused with another key, with other credentials, and under another header', async () => {
    expect(await answerTo(request, { signingKey: 'another' })).toMatchObject({ code: 'signature_mismatch' });
    const others = { ...authentication.basic, password: 'other' };
    expect(await answerTo(request, { authentication: { type: 'BASIC', basic: others } })).toMatchObject({
      code: 'credentials_invalid',
    });
    expect(await answerTo(request, { signatureHeader: 'x-signature' })).toMatchObject({
      code: 'signature_missing',
    });
  });

  test.each([
    ['with a timestamp, as of Stripe', 't=1764147600,v1=$&'],
    ['with a prefix, as of GitHub', 'sha256=$&'],
    ['in base64, as of Shopify', 'XTgMJvY4nFW0AIM3hhkev5fRNU88Q0a8l2JhTwiWtAs='],
  ])('does not fit %s', async (_form, signature) => {
    const other = request.replace(/[0-9a-f]{64}/, signature);
    expect(other).not.toBe(request);
    expect(await answerTo(other)).toEqual({ status: 403, code: 'signature_malformed' });
  });
});

test('the README names the packages that posthorn brings along, and no other', () => {
  const [, named = ''] = /posthorn brings\s([^.]*(?:\.js[^.]*)*) along/.exec(readme.text) ?? [];
  expect(named.split(/,\s|\sand\s/).sort()).toEqual(Object.keys(manifest.dependencies).sort());
});

test('the README names the tarball that `npm pack` makes', () => {
  expect(readme.text).toContain(`npm install ../posthorn/posthorn-${manifest.version}.tgz`);
});
