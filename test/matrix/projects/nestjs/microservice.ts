// Runs the module in a microservice, and in an application that is also one. Prints what it does.

import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import type { Receiver, WebhookEvent } from 'posthorn';
import { getReceiverToken, OnWebhook, PosthornModule } from 'posthorn/nestjs';
import { createEvent, deliver } from 'posthorn/testing';

const key = 'key-of-microservice';
const logger = ['error'] as ['error'];
const transport: MicroserviceOptions = { transport: Transport.TCP, options: { host: '127.0.0.1', port: 0 } };

@Injectable()
class Payments {
  @OnWebhook('transfer.*')
  book({ type }: WebhookEvent): void {
    console.log(`handled ${type}`);
  }
}

@Module({
  imports: [PosthornModule.forRoot({ path: '/webhooks', signingKey: key })],
  providers: [Payments],
})
class ApplicationModule {}

async function runMicroservice(): Promise<void> {
  const service = await NestFactory.createMicroservice<MicroserviceOptions>(ApplicationModule, {
    ...transport,
    logger,
  });
  await service.listen();
  const receiver = service.get<Receiver>(getReceiverToken());
  const { status } = await deliver(receiver, createEvent('transfer.succeeded'), { key });
  console.log(`microservice ${status}`);
  await service.close();
}

async function runHybrid(): Promise<void> {
  const app = await NestFactory.create(ApplicationModule, { logger });
  app.connectMicroservice<MicroserviceOptions>(transport);
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/webhooks`;
  const { status } = await deliver(url, createEvent('transfer.failed'), { key });
  console.log(`hybrid ${status}`);
  await app.close();
}

void runMicroservice().then(runHybrid);
