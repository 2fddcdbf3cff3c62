import {
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import type { Queue, Receiver, WebhookEvent } from 'posthorn';
import { getReceiverToken, InjectReceiver, OnWebhook, PosthornModule } from 'posthorn/nestjs';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { HeldHandler } from '../support/held-handler.ts';
import { key, options, start } from './application.ts';

/** A pool as applications write it: it opens and closes in hooks. */
function poolOf(log: string[], name: string) {
  @Injectable()
  class Pool implements OnModuleInit, OnModuleDestroy {
    onModuleInit(): void {
      log.push(`${name} opens`);
    }

    onModuleDestroy(): void {
      log.push(`${name} closes`);
    }
  }
  return Pool;
}

test('a delivery in hand ends before any pool closes, wherever the pool is provided', async () => {
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
  // It refuses deliveries, so the hooks have begun.
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

test('a worker starts once all handlers are there, and closes first; the queue closes last of the three', async () => {
  const log: string[] = [];
  const queue: Queue = {
    add: async () => {},
    close: async () => void log.push('queue closes'),
  };
  @Injectable()
  class Payments {
    @OnWebhook('*', { receiver: 'working', name: 'book', queue: true })
    book(_event: WebhookEvent): void {}
  }
  const module = await start({
    imports: [
      PosthornModule.forWorker({
        name: 'working',
        inject: ['CONCURRENCY'],
        imports: [
          {
            module: class {},
            providers: [{ provide: 'CONCURRENCY', useValue: 5 }],
            exports: ['CONCURRENCY'],
          },
        ],
        useFactory: (receiver: Receiver, concurrency: number) => {
          log.push(`worker starts with ${concurrency}, for ${receiver.eventFilters()}`);
          return {
            close: async () => {
              log.push(`worker closes, receiver ${(await receiver.health()).closing ? 'closing' : 'open'}`);
              throw new Error('the worker fails to close');
            },
          };
        },
      }),
      PosthornModule.forRoot({ ...options, name: 'working', queue }),
    ],
    providers: [Payments, poolOf(log, 'pool')],
  });
  expect(log.splice(0)).toEqual(['pool opens', 'worker starts with 5, for ']);
  module.useLogger({ log() {}, warn() {}, error: (error: Error) => log.push(`logged: ${error.message}`) });
  await module.close();
  expect(log).toEqual([
    'worker closes, receiver open',
    'logged: the worker fails to close',
    'queue closes',
    'pool closes',
  ]);
});
