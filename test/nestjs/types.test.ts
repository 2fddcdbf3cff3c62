import type { EventData, HandlerContext, KnownEvent, WebhookEvent } from 'posthorn';
import { OnUnhandledWebhook, OnWebhook } from 'posthorn/nestjs';
import { expect, test } from 'vitest';
import * as z from 'zod';

const schemas = { transfer: z.object({ amount: z.bigint() }) };

/** A receiver of its own, because applications of other tests do not provide the class. */
const receiver = 'types';

function decorate(): unknown {
  class Decorated {
    @OnWebhook('transfer.succeeded', { receiver })
    exact(_event: WebhookEvent<'transfer.succeeded'>, { signal }: HandlerContext): AbortSignal {
      return signal;
    }

    @OnWebhook('transfer.*', { receiver })
    wider({ data }: WebhookEvent): EventData {
      return data;
    }

    @OnWebhook(['transfer.failed', 'dispute.created'], { receiver })
    union(_event: WebhookEvent<'transfer.failed'> | WebhookEvent<'dispute.created'>): void {}

    @OnWebhook('transfer.failed', { receiver })
    without(): void {}

    @OnWebhook('transfer.failed', { receiver })
    protected own(_event: KnownEvent): void {}

    @OnWebhook<'transfer.*', typeof schemas>('transfer.*', { receiver })
    parsed({ data }: WebhookEvent<string, { amount: bigint }>): bigint {
      return data.amount;
    }

    // @ts-expect-error a handler of transfers gets no disputes
    @OnWebhook('transfer.succeeded', { receiver })
    another(_event: WebhookEvent<'dispute.created'>): void {}

    // @ts-expect-error one of the two patterns does not fit
    @OnWebhook(['transfer.succeeded', 'dispute.created'], { receiver })
    half(_event: WebhookEvent<'transfer.succeeded'>): void {}

    // @ts-expect-error a third parameter never comes
    @OnWebhook('transfer.succeeded', { receiver })
    third(_event: WebhookEvent, _context: HandlerContext, _more: string): void {}

    // @ts-expect-error the data is not parsed without the schemas
    @OnWebhook('transfer.*', { receiver })
    unparsed(_event: WebhookEvent<string, { amount: bigint }>): void {}

    // @ts-expect-error the pattern is misspelt
    @OnWebhook('transfer.suceeded', { receiver })
    misspelt(_event: WebhookEvent): void {}

    // @ts-expect-error the option is misspelt
    @OnWebhook('transfer.succeeded', { receiver, nmae: 'book' })
    option(_event: WebhookEvent): void {}

    @OnUnhandledWebhook({ receiver })
    rest(_event: WebhookEvent<string, unknown>, { known }: { known: boolean }): boolean {
      return known;
    }

    // @ts-expect-error the second parameter is not that of a handler of a pattern
    @OnUnhandledWebhook({ receiver })
    context(_event: WebhookEvent<string, unknown>, _context: HandlerContext): void {}
  }
  return Decorated;
}

test('the compiler compares the pattern with the parameter of the method', () => {
  expect(decorate).toThrow('"nmae" is not an option of @OnWebhook');
});
