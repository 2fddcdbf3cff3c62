import { ConfigurationError, createReceiver } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { toNode } from 'posthorn/node';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { receiverWithReports } from '../../support/receiver-with-reports.ts';
import { KEY } from '../../support/served.ts';

const delivery = deliveryOf(createEvent('transfer.succeeded'));
const HEADERS = /^headers must be an object .* Headers, a Map, a list of pairs, .*; got /;

describe('receive never rejects: what is no delivery is answered 500 and reported,', () => {
  const wrong: readonly { name: string; delivery: unknown; message: RegExp; close?: boolean }[] = [
    { name: 'nothing', delivery: undefined, message: /^receive\(\) takes a delivery.*; got undefined$/ },
    { name: 'null', delivery: null, message: /takes a delivery.*; got null$/ },
    { name: 'text', delivery: '{}', message: /takes a delivery.*; got string$/ },
    {
      name: 'no method',
      delivery: { ...delivery, method: undefined },
      message: /^method .*; got undefined$/,
    },
    {
      name: 'a url that is not a text',
      delivery: { ...delivery, url: new URL('http://example.com/?token=x') },
      message: /^url of a delivery must be the path and the query of the request, .*; got URL$/,
    },
    {
      name: 'no readBody',
      delivery: { ...delivery, readBody: undefined },
      message: /^readBody .*; got undefined$/,
    },
    {
      name: 'a body instead of readBody',
      delivery: { ...delivery, readBody: '{}' },
      message: /^readBody .*string$/,
    },
    {
      name: 'waitUntil that is none',
      delivery: { ...delivery, waitUntil: {} },
      message: /^waitUntil .*Object$/,
    },
    {
      name: 'isConnected that is none',
      delivery: { ...delivery, isConnected: true },
      message: /^isConnected .*boolean$/,
    },
    {
      name: 'no headers',
      delivery: { ...delivery, headers: undefined },
      message: /^headers .*; got undefined$/,
    },
    { name: 'null as headers', delivery: { ...delivery, headers: null }, message: /; got null$/ },
    { name: 'a text as headers', delivery: { ...delivery, headers: 'authorization: x' }, message: HEADERS },
    {
      name: 'a function as headers',
      delivery: { ...delivery, headers: () => [] },
      message: /; got function$/,
    },
    {
      name: 'a list of objects as headers',
      delivery: { ...delivery, headers: [{ name: 'a' }] },
      message: HEADERS,
    },
    { name: 'a set as headers', delivery: { ...delivery, headers: new Set(['a']) }, message: /; got Set$/ },
    { name: 'a name that is none', delivery: { ...delivery, headers: [[5, 'x']] }, message: /; got number$/ },
    ...[{}, [['c2VjcmV0']], true].map((value) => ({
      name: `${JSON.stringify(value)} as the value of a header that is read, which is not shown`,
      delivery: { ...delivery, headers: { ...delivery.headers, 'X-Service-Signature': value } },
      message: /^the header "x-service-signature" must be a string, a number, .*got (Object|Array|boolean)$/,
      close: false,
    })),
  ];

  test.each(wrong)('$name', async ({ delivery, message, close = true }) => {
    const { receiver, reports } = receiverWithReports();
    const reply = await Reflect.apply(receiver.receive, receiver, [delivery]);
    expect(reply).toMatchObject({ status: 500, close });
    expect(JSON.parse(reply.body)).toEqual({
      title: 'The receiver is not set up correctly',
      status: 500,
      code: 'configuration_invalid',
    });
    expect(reports).toMatchObject([{ outcome: 'failed', code: 'configuration_invalid', answerSent: true }]);
    expect(reports[0]?.error).toBeInstanceOf(ConfigurationError);
    expect(reports[0]?.error?.message).toMatch(message);
  });

  test('and an adapter that fails otherwise, with the cause', async () => {
    const cause = new Error('the adapter failed');
    const fail = (): never => {
      throw cause;
    };
    const failing = [
      { ...delivery, readBody: fail },
      { ...delivery, readBody: () => Promise.reject(cause) },
      {
        ...delivery,
        get headers(): never {
          return fail();
        },
      },
    ];
    for (const delivery of failing) {
      const { receiver, reports } = receiverWithReports();
      const reply = await receiver.receive(delivery);
      expect(JSON.parse(reply.body)).toEqual({
        title: 'The receiver failed',
        status: 500,
        code: 'internal_error',
      });
      expect(reports).toMatchObject([{ outcome: 'failed', code: 'internal_error', answerSent: true }]);
      const message = 'the receiver failed: the adapter failed';
      expect(reports[0]?.error).toMatchObject({ name: 'InternalError', message });
      expect(reports[0]?.error?.cause).toBe(cause);
    }
  });
});

test.each([undefined, null, 'x: y', [{}], { 'x-service-signature': {} }])(
  'verify throws for %o as headers, and reportMisdirected ignores them',
  async (headers) => {
    const { receiver, reports } = receiverWithReports();
    const verified: Promise<unknown> = Reflect.apply(receiver.verify, receiver, ['{}', headers]);
    await expect(verified).rejects.toBeInstanceOf(ConfigurationError);
    await expect(verified).rejects.toThrow(/header/);
    const paths = { requested: '/a', served: '/b' };
    Reflect.apply(receiver.reportMisdirected, receiver, [headers, paths]);
    expect(reports).toEqual([]);
    expect(Reflect.apply(receiver.hasSignature, receiver, [headers])).toBe(false);
  },
);

describe('an adapter throws at once for', () => {
  const adapters = { toNode, toExpress };
  const noReceivers = {
    undefined: undefined,
    null: null,
    Object: { signingKey: KEY },
    Promise: Promise.resolve(receiverWithReports().receiver),
    function: createReceiver,
    string: KEY,
  };
  for (const [name, adapter] of Object.entries(adapters)) {
    test.each(Object.entries(noReceivers))(`${name}(%s)`, (got, value) => {
      const mount = (): unknown => Reflect.apply(adapter, undefined, [value]);
      expect(mount).toThrow(ConfigurationError);
      expect(mount).toThrow(`${name} takes a receiver, which createReceiver returns; got ${got}`);
    });

    test(`the context of another framework, where ${name} takes the request of Node.js`, () => {
      const handle = adapter(receiverWithReports().receiver);
      for (const context of [undefined, { url: '/webhooks', req: {}, request: {} }]) {
        const call = (): unknown => Reflect.apply(handle, undefined, [context, () => {}]);
        expect(call).toThrow(ConfigurationError);
        expect(call).toThrow(
          /ctx\.req and ctx\.res on Koa, request\.raw and reply\.raw on Fastify; there, use toKoa/,
        );
      }
    });
  }
});
