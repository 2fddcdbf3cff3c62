import 'reflect-metadata';
import { Body, Controller, type INestApplication, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { createReceiver } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { toFastify } from 'posthorn/fastify';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { key, options } from './application.ts';

const RECEIVER = Symbol('receiver');

@Controller()
class EchoController {
  @Post('echo')
  echo(@Body() body: unknown): unknown {
    return body;
  }
}

const { path: _, ...receiverOptions } = options;
const useFactory = () => createReceiver(receiverOptions).on('transfer.succeeded', () => {});

@Module({ providers: [{ provide: RECEIVER, useFactory }], controllers: [EchoController] })
class ApplicationModule {}

test('a receiver that is mounted by hand on Express gets the raw body, outside the global prefix', async () => {
  const app = await NestFactory.create(ApplicationModule, { logger: false });
  app.use(toExpress(app.get(RECEIVER), { path: '/webhooks' }));
  await expectDeliveries(app);
});

test('a receiver that is mounted by hand on Fastify gets the raw body, outside the global prefix', async () => {
  const adapter = new FastifyAdapter();
  const app = await NestFactory.create<NestFastifyApplication>(ApplicationModule, adapter, { logger: false });
  await app.register(toFastify(app.get(RECEIVER), { path: '/webhooks' }));
  await expectDeliveries(app);
});

async function expectDeliveries(app: INestApplication): Promise<void> {
  onTestFinished(() => app.close());
  app.setGlobalPrefix('api');
  await app.listen(0, '127.0.0.1');
  const url = (await app.getUrl()).replace(/\/api$/, '');
  const event = createEvent('transfer.succeeded');
  const answer = await deliver(`${url}/webhooks`, event, { key });
  expect([answer.status, await answer.json()]).toMatchObject([200, { outcome: 'processed' }]);
  expect((await deliver(`${url}/webhooks`, event, { key: 'forged' })).status).toBe(403);
  const headers = { 'content-type': 'application/json' };
  const echo = await fetch(`${url}/api/echo`, { method: 'POST', headers, body: '{ "a": [1] }' });
  expect(await echo.text()).toBe('{"a":[1]}');
}
