import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { Receiver, WebhookEvent } from 'posthorn';
import {
  getReceiverToken,
  InjectReceiver,
  OnUnhandledWebhook,
  OnWebhook,
  PosthornModule,
} from 'posthorn/nestjs';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { HeldHandler } from '../support/held-handler.ts';
import { key, options, start } from './application.ts';
import { poolOf } from './pool.ts';

test('a running delivery ends before any pool closes, in whatever module the pool is', async () => {
  const log: string[] = [];
  const handler = new HeldHandler();
  @Injectable()
  class Payments {
    @OnWebhook('*', { receiver: 'closing' })
    async book(event: WebhookEvent): Promise<void> {
      await handler.handle(event, Object(undefined));
      log.push('handled');
    }
  }
  class NearModule {}
  class FarModule {}
  class GlobalModule {}
  const far = { module: FarModule, providers: [poolOf(log, 'far')] };
  const module = await start({
    imports: [
      PosthornModule.forRoot({ ...options, name: 'closing' }),
      { module: NearModule, imports: [far], providers: [poolOf(log, 'near')] },
      { module: GlobalModule, global: true, providers: [poolOf(log, 'global')] },
    ],
    providers: [Payments, poolOf(log, 'root')],
  });
  expect(log.splice(0).sort()).toEqual(['far opens', 'global opens', 'near opens', 'root opens']);
  const receiver = module.get<Receiver>(getReceiverToken('closing'));
  const answer = deliver(receiver, createEvent('transfer.succeeded'), { key });
  const { succeed } = await handler.calls.nth(1);
  const closed = module.close();
  // Deliveries are refused, so the hooks have begun.
  await expect.poll(async () => (await receiver.health()).closing).toBe(true);
  expect(log).toEqual([]);
  succeed();
  expect((await answer).status).toBe(200);
  await closed;
  expect(log[0]).toBe('handled');
  expect(log.slice(1).sort()).toEqual(['far closes', 'global closes', 'near closes', 'root closes']);
});

test('handlers are registered before onApplicationBootstrap of other providers', async () => {
  let filters: unknown;
  @Injectable()
  class Payments implements OnApplicationBootstrap {
    private readonly receiver: Receiver;

    constructor(@InjectReceiver('early') receiver: Receiver) {
      this.receiver = receiver;
    }

    @OnWebhook('transfer.succeeded', { receiver: 'early' })
    book(_event: WebhookEvent): void {}

    onApplicationBootstrap(): void {
      filters = this.receiver.eventFilters();
    }
  }
  await start({ imports: [PosthornModule.forRoot({ ...options, name: 'early' })], providers: [Payments] });
  expect(filters).toEqual([{ entity: 'transfer', types: ['succeeded'] }]);
});

test('the start logs each handler with the path', async () => {
  const lines: unknown[] = [];
  @Injectable()
  class Payments {
    @OnWebhook(['transfer.*', 'dispute.won'], { receiver: 'logged' })
    book(_event: WebhookEvent): void {}

    @OnUnhandledWebhook({ receiver: 'logged' })
    rest(_event: WebhookEvent<string, unknown>): void {}
  }
  const imports = [PosthornModule.forRoot({ ...options, name: 'logged' })];
  const builder = Test.createTestingModule({ imports, providers: [Payments] });
  const log = (line: unknown) => lines.push(line);
  const module = await builder.setLogger({ log, warn() {}, error() {} }).compile();
  onTestFinished(() => module.close());
  await module.init();
  expect(lines.filter((line) => String(line).startsWith('/webhooks'))).toEqual([
    '/webhooks: transfer.*, dispute.won to Payments.book',
    '/webhooks: other events to Payments.rest',
  ]);
});
