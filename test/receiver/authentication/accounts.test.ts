import { setImmediate } from 'node:timers/promises';
import { type AccountOption, createReceiver, type Delivery, type Key, type ReceiverOptions } from 'posthorn';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { describe, expect, test, vi } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { fakeTime } from '../../support/fake-time.ts';
import { receiverWithReports } from '../../support/receiver-with-reports.ts';
import { KEY } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';

const body = JSON.stringify(createEvent('dispute.won'));
const lastSegment: AccountOption = ({ url }) => /([^/?]*)(?:\?|$)/.exec(url)?.[1];

function deliveryTo(url: string | undefined, headers = {}): Delivery {
  const signed = { ...signedHeaders(body, { key: KEY }), ...headers };
  return { method: 'POST', url, headers: signed, readBody: async () => body };
}

function open(options: Partial<ReceiverOptions>) {
  const { receiver, reports } = receiverWithReports({ account: lastSegment, ...options });
  const send = async (url?: string, headers?: object) =>
    (await receiver.receive(deliveryTo(url, headers))).status;
  return { receiver, reports, send };
}

describe('a request without an account', () => {
  const cases: readonly { name: string; account: () => unknown; named: string }[] = [
    { name: 'undefined', account: () => undefined, named: 'account() found none in the request' },
    { name: 'null', account: () => null, named: 'account() found none' },
    { name: 'an empty text', account: () => '', named: 'account() found none' },
    { name: 'a lone surrogate', account: () => '\ud800', named: 'account() found none' },
    { name: 'a long text', account: () => 'm'.repeat(257), named: 'more than 256 characters' },
    {
      name: 'an error',
      account: throwing('no such path'),
      named: 'account() threw Error, which is the cause',
    },
  ];
  test.each(cases)('($name) is answered 404, and no key is asked for', async ({ account, named }) => {
    const signingKey = vi.fn(() => KEY);
    const { reports, send } = open({ account: Object(account), signingKey });
    expect(await send('/webhooks/m17')).toBe(404);
    expect(reports).toMatchObject([{ outcome: 'rejected', error: errorOf('account_unknown', named) }]);
    expect(signingKey).not.toHaveBeenCalled();
  });

  test('because a header is too long or repeated is refused', async () => {
    const { reports, send } = open({
      account: ({ headers }) => headers.get('shop')?.slice(0, 9),
      signingKey: KEY,
    });
    expect(await send('/', { shop: 'x'.repeat(5_000) })).toBe(404);
    expect(await send('/', { shop: ['a', 'b'] })).toBe(403);
    expect(await send('/', { shop: 'a' })).toBe(200);
    expect(reports.at(-1)?.event).toMatchObject({ account: 'a' });
  });

  test('of a wrong type is not shown, because the url may be in it', async () => {
    const { reports, send } = open({
      account: Object(({ url }: { url: string }) => url.split('/')),
      signingKey: KEY,
    });
    expect(await send('/webhooks/s3cret')).toBe(500);
    expect(reports[0]?.error?.message).toContain('account() must return a text');
    expect(reports[0]?.error?.message).not.toContain('s3cret');
  });

  test('says so if the adapter gives no url', async () => {
    const { reports, send } = open({ signingKey: KEY });
    expect(await send(undefined)).toBe(404);
    expect(reports[0]?.error?.message).toContain('the adapter did not give the url');
  });

  test.each([() => 17, async () => Promise.reject(new Error('late'))])(
    'but the result of %s is a mistake of the program',
    async (account) => {
      const { reports, send } = open({ account: Object(account), signingKey: KEY });
      expect(await send('/webhooks/m17')).toBe(500);
      expect(reports).toMatchObject([
        { error: errorOf('configuration_invalid', 'account() must return a text') },
      ]);
    },
  );
});

describe('the keys of accounts', () => {
  test('that are not there: 404, and the function is asked again only after ten seconds', async () => {
    const pass = fakeTime();
    const keys = new Map<string, Key | readonly Key[]>([
      ['empty', []],
      ['null', JSON.parse('null')],
    ]);
    const signingKey = vi.fn((account = '') => keys.get(account));
    const { reports, send } = open({ signingKey });
    for (const url of ['/new', '/new?again', '/empty', '/null', '/null']) expect(await send(url)).toBe(404);
    expect(reports[0]?.error?.message).toContain('the signingKey function has no key of the account "new"');
    expect(signingKey.mock.calls).toEqual([['new'], ['empty'], ['null']]);
    keys.set('new', ['old key', KEY]);
    await pass(9_900);
    expect(await send('/new')).toBe(404);
    await pass(200);
    expect(await send('/new')).toBe(200);
  });

  test('that are not there are remembered for the latest thousand accounts', async () => {
    fakeTime();
    const signingKey = vi.fn(() => undefined);
    const { send } = open({ signingKey });
    for (let index = 0; index < 1_000; index += 1) await send(`/m${index}`);
    await send('/m0');
    expect(signingKey).toHaveBeenCalledTimes(1_000);
    // m0 was the latest, so m1 gives way.
    for (const url of ['/m1000', '/m1', '/m0']) await send(url);
    expect(signingKey.mock.calls.slice(1_000)).toEqual([['m1000'], ['m1']]);
  });

  test('are fetched once for all deliveries of an account, for sixteen accounts at once', async () => {
    const fetched: string[] = [];
    let running = 0;
    let most = 0;
    const signingKey = async (account = '') => {
      fetched.push(account);
      running += 1;
      most = Math.max(most, running);
      await setImmediate();
      running -= 1;
      return KEY;
    };
    const { send } = open({ signingKey });
    const accounts = Array.from({ length: 40 }, (_, index) => `m${index}`);
    const answers = [...accounts, ...accounts].map((account) => send(`/${account}`));
    for (const status of await Promise.all(answers)) expect(status).toBe(200);
    expect(fetched).toEqual(accounts);
    expect(most).toBe(16);
  });

  test('of an account that has had keys are fetched before those of made-up ones', async () => {
    const fetched: string[] = [];
    const signingKey = async (account = '') => {
      fetched.push(account);
      await setImmediate();
      return account === 'honest' ? KEY : undefined;
    };
    const { send } = open({ signingKey });
    expect(await send('/honest')).toBe(200);
    const strangers = Array.from({ length: 100 }, (_, index) => send(`/stranger${index}`));
    expect(await send('/honest')).toBe(200);
    for (const status of await Promise.all(strangers)) expect(status).toBe(404);
    // In the order of the requests it would be the last one.
    expect(fetched.lastIndexOf('honest')).toBeLessThan(50);
  });

  test('of one account that fail or are late hold up no other account', async () => {
    const pass = fakeTime();
    const signingKey = (account = '') => {
      if (account === 'broken') throw new Error('sealed');
      return account === 'slow' ? new Promise<undefined>(() => {}) : KEY;
    };
    const { reports, send } = open({ signingKey });
    const slow = send('/slow');
    expect(await send('/broken')).toBe(503);
    expect(reports.at(-1)?.error).toMatchObject(
      errorOf('keys_unavailable', 'gave no key of the account "broken": sealed'),
    );
    expect(await send('/quick')).toBe(200);
    await pass(5_100);
    expect(await slow).toBe(503);
  });

  test('that are late: the bodies that wait for them give way to others', async () => {
    const answers: ((keys: undefined) => void)[] = [];
    const signingKey = () => new Promise<undefined>((answer) => answers.push(answer));
    const maxBufferedBytes = 5 * body.length;
    const { reports, send } = open({ signingKey, maxBufferedBytes, maxBodyBytes: body.length });
    const sendFive = () => Array.from({ length: 5 }, (_, index) => send(`/stranger${index}`));
    const first = sendFive();
    await vi.waitFor(() => expect(answers).toHaveLength(5));
    const others = sendFive();
    await vi.waitFor(() => expect(reports).toHaveLength(5));
    expect(new Set(reports.map(({ code }) => code))).toEqual(new Set(['buffer_full']));
    for (const answer of answers) answer(undefined);
    expect(new Set(await Promise.all(first))).toEqual(new Set([503]));
    expect(new Set(await Promise.all(others))).toEqual(new Set([404]));
  });
});

test('verify takes the url of the request', async () => {
  const receiver = createReceiver({ account: lastSegment, signingKey: (account) => account && KEY });
  const headers = signedHeaders(body, { key: KEY });
  expect(await receiver.verify(body, headers, { url: '/webhooks/m17' })).toMatchObject({
    type: 'dispute.won',
  });
  await expect(receiver.verify(body, headers)).rejects.toMatchObject({
    code: 'account_unknown',
    status: 404,
  });
});

test('an account that is not a function is refused', () => {
  const options = { signingKey: KEY, account: Object('m17') };
  expect(() => createReceiver(options)).toThrow('account must be a function, got object');
});
