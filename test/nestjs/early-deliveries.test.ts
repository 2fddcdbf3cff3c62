import { createServer } from 'node:http';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { createReceiver, type Receiver, type WebhookEvent } from 'posthorn';
import { getReceiverToken, InjectReceiver, OnWebhook, PosthornModule } from 'posthorn/nestjs';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { holdUntil } from '../../src/nestjs/mount.ts';
import { fakeTimers } from '../support/fake-time.ts';
import { shutGate } from '../support/gate.ts';
import { Seen } from '../support/seen.ts';
import { key, options } from './application.ts';

test('a delivery that comes before the start waits for all handlers', async () => {
  const log: string[] = [];
  const gate = shutGate();
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
  const arrived = new Seen();
  server.on('request', arrived.add);
  const answers = [deliver(url, createEvent('transfer.succeeded'), { key }), fetch(url)];
  await arrived.nth(2);
  gate.open();
  await started;
  expect(await Promise.all(answers.map(async (answer) => (await answer).status))).toEqual([200, 405]);
  expect(log.sort()).toEqual(['by hand', 'decorated']);
});

test('a delivery that comes before a start that never ends is answered 503, within its time', async () => {
  fakeTimers();
  const { path: _, ...receiverOptions } = options;
  const receiver = createReceiver(receiverOptions).on('*', () => {});
  const delivery = { method: 'POST', headers: {}, readBody: () => '' };
  const reply = holdUntil(new Promise(() => {}), receiver).receive(delivery);
  await vi.advanceTimersByTimeAsync(25_000);
  expect(await reply).toMatchObject({ status: 503, headers: { 'retry-after': '60' } });
});

test('a delivery that a failed start holds is answered 503 when the application closes', async () => {
  class Database implements OnModuleInit {
    onModuleInit(): void {
      throw new Error('the database is away');
    }
  }
  @Injectable()
  class Payments {
    @OnWebhook('*', { receiver: 'failing' })
    book(_event: WebhookEvent): void {}
  }
  const imports = [PosthornModule.forRoot({ ...options, name: 'failing' })];
  const module = await Test.createTestingModule({ imports, providers: [Payments, Database] }).compile();
  module.get<Receiver>(getReceiverToken('failing')).observe(() => {});
  const app = module.createNestApplication({ logger: false });
  // A server of its own, because NestJS closes that of the application.
  const server = createServer({ keepAliveTimeout: 0 }, app.getHttpAdapter().getInstance());
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await expect(app.init()).rejects.toThrow('the database is away');
  const url = `http://127.0.0.1:${Object(server.address()).port}/webhooks`;
  const arrived = new Promise((resolve) => server.once('request', resolve));
  const answer = deliver(url, createEvent('transfer.succeeded'), { key });
  await arrived;
  await app.close();
  expect((await answer).status).toBe(503);
});
