import { describe, expect, test } from 'vitest';
import { NEW_QUOTE } from '../shapes/sandbox-bodies.ts';
import { BANKING, CONTROL, type OpenedSandbox, openSandbox, type Reply } from './opened-sandbox.ts';

const PATH = '/banking/us2/v1/transaction/fxQuote';

function quote({ call }: OpenedSandbox, body: string): Promise<Reply> {
  return call('POST', PATH, BANKING, body);
}

function idOf({ body }: Reply): number {
  return (body as { id: number }).id;
}

describe('POST fxQuote', () => {
  test('with destination.amount: the whole quote', async () => {
    const reply = await quote(await openSandbox(), '{"destination":{"currency":"EUR","amount":"100.00"}}');
    expect(reply.status).toBe(200);
    const id = idOf(reply);
    expect(Number.isInteger(id)).toBe(true);
    expect(reply.body).toEqual({
      ...NEW_QUOTE,
      url: expect.stringMatching(new RegExp(`^v1/customer/id/\\d+/transaction/fxQuote/id/${id}$`)),
      id,
      destination: { amount: '100.00', currency: 'EUR' },
      // 100 / 0.92145 = 108.5246…
      source: { amount: '108.52', currency: 'USD' },
      fxRate: '0.921450',
    });
  });

  test('with source.amount: the destination is computed', async () => {
    const reply = await quote(
      await openSandbox(),
      '{"source":{"amount":"10.01"},"destination":{"currency":"JPY"}}',
    );
    // 10.01 × 151.237 = 1513.88237
    expect(reply).toMatchObject({
      status: 200,
      body: {
        destination: { amount: '1513.88', currency: 'JPY' },
        source: { amount: '10.01', currency: 'USD' },
        fxRate: '151.237000',
      },
    });
  });

  test.each([
    // 100 × 0.92145 = 92.145; to even it would be 92.14.
    ['{"source":{"amount":"100.00"},"destination":{"currency":"EUR"}}', '92.15', '100.00'],
    // 169.06 ÷ 1352.48 = 0.125; to even it would be 0.12.
    ['{"destination":{"currency":"KRW","amount":"169.06"}}', '169.06', '0.13'],
  ])('half a cent is rounded up: %s', async (body, destination, source) => {
    expect((await quote(await openSandbox(), body)).body).toMatchObject({
      destination: { amount: destination },
      source: { amount: source },
    });
  });

  test.each(['7', '7.0', '7.00', '007.00'])(
    'an amount of "%s" is shown with two decimal places',
    async (amount) => {
      const reply = await quote(
        await openSandbox(),
        `{"destination":{"currency":"GBP","amount":"${amount}"}}`,
      );
      expect(reply.body).toMatchObject({ destination: { amount: '7.00' } });
    },
  );

  test('each quote has an id of its own', async () => {
    const opened = await openSandbox();
    const body = '{"destination":{"currency":"EUR","amount":"1.00"}}';
    expect(idOf(await quote(opened, body))).not.toBe(idOf(await quote(opened, body)));
  });

  test.each([
    ['no amount', '{"destination":{"currency":"EUR"}}'],
    ['both amounts', '{"destination":{"currency":"EUR","amount":"1.00"},"source":{"amount":"1.00"}}'],
    ['no currency', '{"source":{"amount":"1.00"}}'],
    ['a currency in lower case', '{"destination":{"currency":"eur","amount":"1.00"}}'],
    ['a currency of four letters', '{"destination":{"currency":"EURO","amount":"1.00"}}'],
    ['a number as amount', '{"destination":{"currency":"EUR","amount":1.5}}'],
    ['an amount of 0', '{"destination":{"currency":"EUR","amount":"0.00"}}'],
    ['a negative amount', '{"destination":{"currency":"EUR","amount":"-1.00"}}'],
    ['an exponent', '{"destination":{"currency":"EUR","amount":"1e3"}}'],
    ['a comma', '{"destination":{"currency":"EUR","amount":"1,00"}}'],
    ['three decimal places', '{"destination":{"currency":"EUR","amount":"1.005"}}'],
    ['an amount whose other side is 0.00', '{"destination":{"currency":"KRW","amount":"1.00"}}'],
    ['no object', '[]'],
  ])('%s is refused', async (_, body) => {
    const reply = await quote(await openSandbox(), body);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      status: 400,
      message: 'Invalid FX quote request',
      details: expect.stringMatching(/\w/),
    });
  });

  test('a number as amount is told that it must be a text', async () => {
    const { body } = await quote(await openSandbox(), '{"destination":{"currency":"EUR","amount":1.5}}');
    expect(body).toMatchObject({ details: expect.stringContaining('as texts') });
  });

  test.each(['USD', 'XXX'])('%s cannot be quoted', async (currency) => {
    const reply = await quote(
      await openSandbox(),
      `{"destination":{"currency":"${currency}","amount":"1.00"}}`,
    );
    expect(reply).toMatchObject({
      status: 400,
      body: { status: 400, message: 'Unsupported currency', details: expect.stringContaining(currency) },
    });
  });
});

describe('GET fxQuote/id/{id}', () => {
  test('shows the same quote, after its expiry too', async () => {
    const opened = await openSandbox();
    const created = await quote(opened, '{"destination":{"currency":"EUR","amount":"100.00"}}');
    const path = `${PATH}/id/${idOf(created)}`;
    for (const advanceMs of [0, 30_000]) {
      await opened.sandbox.clock.advance(advanceMs);
      const { accept, ...headers } = { ...BANKING, accept: 'application/json' };
      expect(await opened.call('GET', path, { ...headers, accept })).toMatchObject({
        status: 200,
        body: created.body,
      });
    }
  });

  test.each(['1', '0', '-1', 'abc', '5001.5'])('%s is unknown', async (id) => {
    const { call } = await openSandbox();
    const reply = await call('GET', `${PATH}/id/${id}`, BANKING);
    expect(reply).toMatchObject({ status: 404, body: { status: 404, message: 'FX quote not found' } });
  });
});

describe('POST /sandbox/fxQuotes/{id}/accept', () => {
  test('accepts a quote until its 30 seconds have passed', async () => {
    const opened = await openSandbox();
    const created = await quote(opened, '{"destination":{"currency":"EUR","amount":"100.00"}}');
    await opened.sandbox.clock.advance(29_999);
    const path = `/sandbox/fxQuotes/${idOf(created)}/accept`;
    const accepted = await opened.call('POST', path, CONTROL);
    expect(accepted).toMatchObject({ status: 200 });
    expect(accepted.body).toEqual({
      ...(created.body as object),
      status: 'ACCEPTED',
      lastUpdatedOn: '03/01/2026 12:00:30',
    });
    const retrieved = await opened.call('GET', `${PATH}/id/${idOf(created)}`, BANKING);
    expect(retrieved.body).toEqual(accepted.body);
    expect(await opened.call('POST', path, CONTROL, '{}')).toMatchObject({
      status: 409,
      body: { status: 409, message: 'FX quote already accepted' },
    });
  });

  test.each([0, 600, 1_000])(
    'a quote that is accepted %d ms after its creation has another lastUpdatedOn',
    async (advanceMs) => {
      const opened = await openSandbox();
      const created = await quote(opened, '{"destination":{"currency":"EUR","amount":"100.00"}}');
      await opened.sandbox.clock.advance(advanceMs);
      const accepted = await opened.call('POST', `/sandbox/fxQuotes/${idOf(created)}/accept`, CONTROL);
      expect(accepted.body).toMatchObject({
        status: 'ACCEPTED',
        createdOn: '03/01/2026 12:00:00',
        lastUpdatedOn: '03/01/2026 12:00:01',
      });
    },
  );

  test('refuses one that has expired, and one that nobody knows', async () => {
    const opened = await openSandbox();
    const created = await quote(opened, '{"destination":{"currency":"EUR","amount":"100.00"}}');
    await opened.sandbox.clock.advance(30_000);
    expect(await opened.call('POST', `/sandbox/fxQuotes/${idOf(created)}/accept`, CONTROL)).toMatchObject({
      status: 409,
      body: {
        status: 409,
        message: 'FX quote expired',
        details: expect.stringContaining('03/01/2026 12:00:30'),
      },
    });
    expect(() => opened.sandbox.acceptQuote(idOf(created))).toThrow('FX quote expired');
    expect(await opened.call('POST', '/sandbox/fxQuotes/1/accept', CONTROL)).toMatchObject({
      status: 404,
      body: { status: 404, message: 'FX quote not found' },
    });
  });
});
