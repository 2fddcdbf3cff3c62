import { createReceiver } from 'posthorn';
import { toNodeOperator } from 'posthorn/operator';
import { describe, expect, test } from 'vitest';
import { letter } from '../cli/letters.ts';
import { ampleDeadlines } from '../support/limits.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';
import { ada } from './mounts.ts';
import { type ProxyOptions, sendAsBrowser, startProxy } from './proxy.ts';

const DEED = { ids: ['evt_1'] };

/** Serves the interface behind a proxy. Its `origin` is that of the proxy, or it goes by `Host`. */
async function serveBehind(
  proxy: Omit<ProxyOptions, 'inner'>,
  goesBy: 'origin' | 'Host',
): Promise<{ readonly origin: string; readonly url: string }> {
  silenced('info');
  const deadLetters = createMapDeadLetters();
  await deadLetters.put(letter('evt_1'));
  const receiver = createReceiver({ signingKey: KEY, deadLetters, ...ampleDeadlines })
    .on('*', () => {})
    .observe(() => {});
  let serve = toNodeOperator(receiver, ada);
  const inner = await listenUntilTheEnd((request, response) => serve(request, response));
  const origin = await startProxy({ inner, ...proxy });
  if (goesBy === 'origin') serve = toNodeOperator(receiver, { ...ada, origin });
  return { origin, url: `${origin}/operator/api/dead-letters` };
}

const passed = { status: 200, text: expect.stringContaining('"outcome":"processed"') };
const refused = (wayOut: string) => ({
  status: 403,
  text: expect.stringMatching(new RegExp(`"code":"origin_foreign".*${wayOut}`)),
});

/** The headers of browsers from the page of an origin: `Sec-Fetch-Site` only over TLS, and old ones never. */
const fromOwnPage = (origin: string) => ({ origin, 'sec-fetch-site': 'same-origin' });
const fromOwnPageOfOld = (origin: string) => ({ origin });
const fromForeignPage = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

describe.each([
  { tls: false, name: 'a proxy' },
  { tls: true, name: 'a proxy that ends TLS' },
])('behind $name', ({ tls }) => {
  describe('that changes Host', () => {
    const proxy = { tls, keepsHost: false };

    test('deeds of the own page pass with the option origin', async () => {
      const { origin, url } = await serveBehind(proxy, 'origin');
      expect(await sendAsBrowser(`${url}/replay`, 'POST', fromOwnPageOfOld(origin), DEED)).toEqual(passed);
    });

    test('they are refused by Host alone, with the way out', async () => {
      const { origin, url } = await serveBehind(proxy, 'Host');
      const answer = await sendAsBrowser(`${url}/replay`, 'POST', fromOwnPageOfOld(origin), DEED);
      expect(answer).toEqual(refused('if a proxy changes Host, set the option origin'));
      expect(await sendAsBrowser(url, 'GET', {})).toMatchObject({ status: 200 });
    });

    test('they pass by Sec-Fetch-Site, which no proxy changes', async () => {
      const { origin, url } = await serveBehind(proxy, 'Host');
      expect(await sendAsBrowser(`${url}/replay`, 'POST', fromOwnPage(origin), DEED)).toEqual(passed);
    });
  });

  test('that keeps Host, deeds of the own page pass without the option', async () => {
    const { origin, url } = await serveBehind({ tls, keepsHost: true }, 'Host');
    expect(await sendAsBrowser(`${url}/replay`, 'POST', fromOwnPageOfOld(origin), DEED)).toEqual(passed);
  });

  test.each([
    { keepsHost: true, goesBy: 'Host' },
    { keepsHost: true, goesBy: 'origin' },
    { keepsHost: false, goesBy: 'origin' },
  ] as const)('those of a foreign page are refused: %o', async ({ goesBy, keepsHost }) => {
    const { origin, url } = await serveBehind({ tls, keepsHost }, goesBy);
    const send = (headers: Readonly<Record<string, string>>) =>
      sendAsBrowser(`${url}/replay`, 'POST', headers, DEED);
    const wayOut = goesBy === 'Host' ? 'set the option origin' : `the option origin is ${origin}`;
    expect(await send(fromForeignPage)).toEqual(refused('send it from a page of the same origin'));
    expect(await send({ origin: 'https://evil.example' })).toEqual(refused(wayOut));
    // A page in a sandbox.
    expect(await send({ origin: 'null' })).toEqual(refused(wayOut));
    expect(await sendAsBrowser(`${url}/evt_1`, 'GET', {})).toMatchObject({ status: 200 });
  });
});
