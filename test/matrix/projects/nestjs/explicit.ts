// Names each dependency by a token, because a compiler may write no types of parameters. Prints what it does.

import 'reflect-metadata';
import { Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Receiver, WebhookEvent } from 'posthorn';
import { getReceiverToken, InjectReceiver, OnWebhook, PosthornModule } from 'posthorn/nestjs';
import { createEvent, deliver } from 'posthorn/testing';

const key = 'key-of-explicit';

@Injectable()
class Ledger {
  readonly booked: string[] = [];
}

@Injectable()
class Payments {
  @InjectReceiver() private readonly receiver!: Receiver;

  constructor(@Inject(Ledger) private readonly ledger: Ledger) {}

  @OnWebhook('transfer.succeeded')
  async book({ type }: WebhookEvent<'transfer.succeeded'>): Promise<void> {
    const { closing } = await this.receiver.health();
    this.ledger.booked.push(`${type}, closing ${closing}`);
  }
}

@Module({
  imports: [PosthornModule.forRoot({ path: '/webhooks', signingKey: key })],
  providers: [Ledger, Payments],
})
class ApplicationModule {}

async function run(): Promise<void> {
  const context = await NestFactory.createApplicationContext(ApplicationModule, { logger: ['error'] });
  const receiver = context.get<Receiver>(getReceiverToken());
  const { status } = await deliver(receiver, createEvent('transfer.succeeded'), { key });
  console.log(status, context.get(Ledger).booked.join());
  await context.close();
}

void run();
