// An application whose handlers run in a worker: started as the web application it enqueues their jobs in
// Redis, and as the worker it runs them. It prints what happens.

import 'reflect-metadata';
import { Inject, Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import type { WebhookEvent } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { OnWebhook, PosthornModule } from 'posthorn/nestjs';
import { createRedisStore } from 'posthorn/redis';

const { REDIS_PORT, SCOPE: scope = '', KEY, ROLE } = process.env;
const connection = { host: '127.0.0.1', port: Number(REDIS_PORT) };

function note(...words: readonly unknown[]): void {
  process.stdout.write(`${words.join(' ')}\n`);
}

@Injectable()
class StoreConnection implements OnModuleDestroy {
  readonly redis: Redis = new Redis(connection);

  async onModuleDestroy(): Promise<void> {
    note("the store's connection closes");
    await this.redis.quit();
  }
}

@Module({ providers: [StoreConnection], exports: [StoreConnection] })
class StoreModule {}

/** Keeps the handler waiting until there is an element in a list. */
@Injectable()
class Gate implements OnModuleDestroy {
  readonly #redis: Redis = new Redis(connection);

  async pass(): Promise<void> {
    await this.#redis.blpop('gate', 0);
  }

  onModuleDestroy(): void {
    note("the handler's connection closes");
    this.#redis.disconnect();
  }
}

@Injectable()
class Payments {
  readonly #gate: Gate;

  constructor(@Inject(Gate) gate: Gate) {
    this.#gate = gate;
  }

  @OnWebhook('transfer.*', { name: 'book', queue: true })
  async book({ id }: WebhookEvent): Promise<void> {
    note('begun', id);
    await this.#gate.pass();
    note('handled', id);
  }
}

const webhooks = PosthornModule.forRootAsync({
  imports: [StoreModule],
  inject: [StoreConnection],
  useFactory: ({ redis }: StoreConnection) => ({
    path: '/webhooks',
    signingKey: KEY,
    store: createRedisStore(redis, { scope }),
    queue: createBullQueue({ connection, scope }),
  }),
});

@Module({ imports: [webhooks], providers: [Gate, Payments] })
class WebModule {}

const worker = PosthornModule.forWorker({
  useFactory: (receiver) => {
    const created = createBullWorker(receiver, { connection, scope });
    return {
      close: async () => {
        note('the worker closes');
        await created.close();
        note('the worker has closed');
      },
    };
  },
});

@Module({ imports: [webhooks, worker], providers: [Gate, Payments] })
class WorkerModule {}

async function startWeb(): Promise<void> {
  const app = await NestFactory.create(WebModule, { logger: ['error'] });
  app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  note('listening', await app.getUrl());
}

async function startWorker(): Promise<void> {
  const context = await NestFactory.createApplicationContext(WorkerModule, { logger: ['error'] });
  context.enableShutdownHooks();
  note('working');
}

void (ROLE === 'worker' ? startWorker() : startWeb());
