import { Injectable } from '@nestjs/common';
import type { Receiver, TypedEvent } from 'posthorn';
import { getReceiverToken, PosthornModule, receiverHealth, webhookDecorators } from 'posthorn/nestjs';
import { describe, expect, test, vi } from 'vitest';
import { answerMsOf, holdUntil } from '../../src/nestjs/mount.ts';
import { type AcmeEvent, acme, acmeDelivery, acmeEvent } from '../receiver/provider/senders.ts';
import type { WideEvent, WideEventOf } from '../receiver/wide-union.ts';
import { fakeTimers } from '../support/fake-time.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { KEY } from '../support/served.ts';
import { start } from './application.ts';

const { OnUnhandledWebhook, OnWebhook } = webhookDecorators<AcmeEvent>();

const options = { path: '/webhooks', signingKey: KEY, deadLetters: createMapDeadLetters() };

/** A class with handlers for a receiver, and the calls of them. */
function decorated(receiver: string) {
  const calls: string[] = [];
  @Injectable()
  class Invoices {
    @OnWebhook('invoice.*', { receiver, name: 'book' })
    book({ event_id }: AcmeEvent): void {
      calls.push(`book ${event_id}`);
    }

    @OnUnhandledWebhook({ receiver })
    log({ type }: AcmeEvent, { known }: { readonly known: boolean }): void {
      calls.push(`${type} ${known}`);
    }
  }
  return { Invoices, calls };
}

describe('a receiver of another provider', () => {
  test('gets its handlers from decorated methods, and a list of types is not needed', async () => {
    const { Invoices, calls } = decorated('acme');
    const imports = [PosthornModule.forRoot({ ...options, name: 'acme', provider: acme() })];
    const module = await start({ imports, providers: [Invoices] });
    const receiver = module.get<Receiver<Record<never, never>, AcmeEvent>>(getReceiverToken('acme'));
    const paid = acmeEvent('invoice.paid');
    expect((await receiver.receive(acmeDelivery(paid))).status).toBe(200);
    expect((await receiver.receive(acmeDelivery(acmeEvent('push')))).status).toBe(200);
    expect(calls).toEqual([`book ${paid.event_id}`, 'push false']);
    expect(await receiver.health()).toMatchObject({ provider: 'acme' });
    expect(await receiverHealth(receiver, 'acme')).toEqual({ acme: { status: 'up', code: undefined } });
  });

  test('may come from forRootAsync', async () => {
    const { Invoices, calls } = decorated('acme-async');
    const useFactory = async () => ({ ...options, provider: acme() });
    const imports = [PosthornModule.forRootAsync({ name: 'acme-async', useFactory })];
    const module = await start({ imports, providers: [Invoices] });
    const receiver = module.get<Receiver>(getReceiverToken('acme-async'));
    expect((await receiver.receive(acmeDelivery(acmeEvent('push')))).status).toBe(200);
    expect(calls).toEqual(['push false']);
  });

  test('without a handler does not start', async () => {
    const imports = [PosthornModule.forRoot({ ...options, name: 'acme-empty', provider: acme() })];
    await expect(start({ imports })).rejects.toThrow(/^the receiver of \/webhooks has no handler/);
  });

  test('with a pattern of the wrong form does not start', async () => {
    @Injectable()
    class Orders {
      @OnWebhook('orders/create', { receiver: 'acme-form' })
      book(): void {}
    }
    const imports = [PosthornModule.forRoot({ ...options, name: 'acme-form', provider: acme() })];
    await expect(start({ imports, providers: [Orders] })).rejects.toThrow(
      '@OnWebhook of Orders.book: "orders/create" is not a pattern. Did you mean "orders.create"?',
    );
  });

  test('holds early deliveries for five sixths of the time that the sender waits', async () => {
    expect([answerMsOf(undefined), answerMsOf(30_000), answerMsOf(3_000)]).toEqual([25_000, 25_000, 2_500]);
    fakeTimers();
    const receiver = { receive: vi.fn(), hasSignature: vi.fn(), reportMisdirected: vi.fn() };
    const held = holdUntil(new Promise(() => {}), receiver, 2_500);
    const reply = held.receive(acmeDelivery(acmeEvent()));
    await vi.advanceTimersByTimeAsync(2_500);
    expect(await reply).toMatchObject({ status: 503 });
  });
});

test('the decorators have the types of the provider', () => {
  const wide = webhookDecorators<WideEvent>();
  const untyped = webhookDecorators();
  const receiver = 'types-of-providers';

  function decorate(): unknown {
    class Decorated {
      @wide.OnWebhook('thing_0_0.created', {
        receiver,
        concurrencyKey: ({ data }) => data.object.of,
        name: 'a',
      })
      exact(_event: WideEventOf<'thing_0_0.created'>): void {}

      @wide.OnWebhook(['thing_0_0.line.*', 'thing_1_1.created'], { receiver })
      list(_event: WideEvent): void {}

      @wide.OnUnhandledWebhook({ receiver })
      rest(_event: WideEvent, _details: { readonly known: boolean }): void {}

      @untyped.OnWebhook('push', { receiver })
      any(_event: TypedEvent): void {}

      // @ts-expect-error another event
      @wide.OnWebhook('thing_0_0.created', { receiver })
      another(_event: WideEventOf<'thing_0_0.deleted'>): void {}

      // @ts-expect-error the pattern is misspelt
      @wide.OnWebhook('thing_0_0.creatd', { receiver })
      misspelt(_event: WideEvent): void {}

      // @ts-expect-error a type of the default provider
      @wide.OnWebhook('transfer.succeeded', { receiver })
      ofDefault(_event: WideEvent): void {}
    }
    return Decorated;
  }

  // Never called: the tests of other files would have to provide the class.
  expect(decorate).toBeTypeOf('function');
});
