// Runs a worker in an application without a server, and prints what happens in which order.

import 'reflect-metadata';
import { Injectable, Module, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Queue, WebhookEvent } from 'posthorn';
import { OnWebhook, PosthornModule } from 'posthorn/nestjs';

@Injectable()
class Pool implements OnModuleInit, OnModuleDestroy {
  onModuleInit(): void {
    console.log('the pool opens');
  }

  onModuleDestroy(): void {
    console.log('the pool closes');
  }
}

const queue: Queue = {
  add: async () => {},
  close: async () => console.log('the queue closes'),
};

@Injectable()
class Payments {
  constructor(readonly pool: Pool) {}

  @OnWebhook('transfer.*', { name: 'book', queue: true })
  book(_event: WebhookEvent): void {}
}

@Module({
  imports: [
    PosthornModule.forWorker({
      useFactory: async (receiver) => {
        const { closing } = await receiver.health();
        console.log(`the worker starts, closing ${closing}`);
        return {
          close: async () => console.log(`the worker closes, closing ${(await receiver.health()).closing}`),
        };
      },
    }),
    PosthornModule.forRoot({ path: '/webhooks', signingKey: 'key-of-worker', queue }),
  ],
  providers: [Payments, Pool],
})
class WorkerModule {}

async function run(): Promise<void> {
  const context = await NestFactory.createApplicationContext(WorkerModule, { logger: ['error'] });
  await context.close();
}

void run();
