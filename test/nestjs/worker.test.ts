import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import type { Queue, Receiver, WebhookEvent } from 'posthorn';
import { getReceiverToken, OnWebhook, PosthornModule } from 'posthorn/nestjs';
import { expect, test } from 'vitest';
import { shutGate } from '../support/gate.ts';
import { options, send, start } from './application.ts';

import { poolOf } from './pool.ts';

async function stateOf(module: TestingModule): Promise<string> {
  const { closing } = await module.get<Receiver>(getReceiverToken('working')).health();
  return closing ? 'closing' : 'open';
}

test('a worker starts after all handlers are registered, and closes before the receiver, which closes before the queue', async () => {
  const log: string[] = [];
  const queue: Queue = {
    add: async () => {},
    close: async () => {
      log.push(`queue closes, receiver ${await stateOf(module)}`);
    },
  };
  @Injectable()
  class Payments {
    @OnWebhook('*', { receiver: 'working', name: 'book', queue: true })
    book(_event: WebhookEvent): void {}
  }
  const module: TestingModule = await start({
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
              log.push(`worker closes, receiver ${await stateOf(module)}`);
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
  await module.close();
  expect(log).toEqual([
    'worker closes, receiver open',
    'logged: the worker fails to close',
    'queue closes, receiver closing',
    'pool closes',
    'pool closes', // by the second close, which closes none of the three again
  ]);
});

test('hooks that run twice register once and start one worker', async () => {
  const log: string[] = [];
  @Injectable()
  class Payments {
    @OnWebhook('*', { receiver: 'twice' })
    book(_event: WebhookEvent): void {
      log.push('booked');
    }
  }
  const startWorker = () => {
    log.push('worker starts');
    return { close: () => log.push('worker closes') };
  };
  const module = await start({
    imports: [
      PosthornModule.forRoot({ ...options, name: 'twice' }),
      PosthornModule.forWorker({ name: 'twice', useFactory: startWorker }),
    ],
    providers: [Payments],
  });
  const app = module.createNestApplication({ logger: false });
  await app.init();
  expect(await send(app, 'transfer.succeeded', 'twice')).toBe(200);
  await app.close();
  expect(log).toEqual(['worker starts', 'booked', 'worker closes']);
});

test('a worker that is starting when the application closes is closed, and none starts after that', async () => {
  const log: string[] = [];
  const gate = shutGate();
  @Injectable()
  class Payments {
    @OnWebhook('*', { receiver: 'hasty' })
    book(_event: WebhookEvent): void {}
  }
  const worker = PosthornModule.forWorker({
    name: 'hasty',
    useFactory: async () => {
      await gate.pass();
      log.push('worker started');
      return { close: () => log.push('worker closed') };
    },
  });
  const imports = [PosthornModule.forRoot({ ...options, name: 'hasty' }), worker];
  const module = await Test.createTestingModule({ imports, providers: [Payments] }).compile();
  const started = module.createNestApplication({ logger: false }).init();
  await gate.held.nth(1);
  const closed = module.close();
  gate.open();
  const app = await started;
  await closed;
  expect(log.splice(0)).toEqual(['worker started', 'worker closed']);
  await app.close();

  const early = await Test.createTestingModule({ imports, providers: [Payments] }).compile();
  await early.close();
  await early.init();
  expect(log).toEqual([]);
});
