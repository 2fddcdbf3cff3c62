import {
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import type { Queue, Receiver, WebhookEvent } from 'posthorn';
import {
  getReceiverToken,
  InjectReceiver,
  OnUnhandledWebhook,
  OnWebhook,
  PosthornModule,
} from 'posthorn/nestjs';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { Gate } from '../support/gate.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { key, options, send, start } from './application.ts';

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
  const gate = new Gate();
  gate.shut();
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

test('a delivery that comes before the start waits for all handlers', async () => {
  const log: string[] = [];
  const gate = new Gate();
  gate.shut();
  @Injectable()
  class Payments implements OnModuleInit {
    constructor(@InjectReceiver('slow') receiver: Receiver) {
      receiver.on('*', () => log.push('by hand'));
    }

    @OnWebhook('*', { receiver: 'slow' })
    book(_event: WebhookEvent): void {
      log.push('decorated');
    }

    async onModuleInit(): Promise<void> {
      await gate.pass();
    }
  }
  const imports = [PosthornModule.forRoot({ ...options, name: 'slow' })];
  const module = await Test.createTestingModule({ imports, providers: [Payments] }).compile();
  const app = module.createNestApplication({ logger: false });
  onTestFinished(() => app.close());
  const server = app.getHttpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const started = app.init();
  await gate.held.nth(1);
  const url = `http://127.0.0.1:${Object(server.address()).port}/webhooks`;
  const arrived = new Promise((resolve) => server.once('request', resolve));
  const answers = [deliver(url, createEvent('transfer.succeeded'), { key }), fetch(url)];
  await arrived;
  gate.open();
  await started;
  expect(await Promise.all(answers.map(async (answer) => (await answer).status))).toEqual([200, 405]);
  expect(log.sort()).toEqual(['by hand', 'decorated']);
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
