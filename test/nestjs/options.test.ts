import { Injectable, Module } from '@nestjs/common';
import { JournalError, type Receiver, UnavailableError, type WebhookEvent } from 'posthorn';
import { getReceiverToken, OnWebhook, PosthornModule, receiverHealth } from 'posthorn/nestjs';
import { expect, test } from 'vitest';
import { options, send, start } from './application.ts';

@Injectable()
class Settings {
  readonly signingKey = options.signingKey;
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

@Injectable()
class Payments {
  @OnWebhook('*', { receiver: 'async' })
  book(_event: WebhookEvent): void {}
}

test('forRootAsync gets its options from providers of modules that it imports', async () => {
  const webhooks = PosthornModule.forRootAsync({
    name: 'async',
    imports: [SettingsModule],
    inject: [Settings],
    useFactory: async ({ signingKey }: Settings) => ({ ...options, signingKey }),
  });
  const module = await start({ imports: [webhooks], providers: [Payments] });
  expect(await send(module, 'transfer.succeeded', 'async')).toBe(200);
});

test('wrong options have clear errors', async () => {
  expect(() => Reflect.apply(PosthornModule.forRoot, PosthornModule, [])).toThrow(
    'PosthornModule.forRoot takes an object of options, got undefined',
  );
  const nothing = Reflect.apply(PosthornModule.forRootAsync, PosthornModule, [{ useFactory: () => {} }]);
  await expect(start({ imports: [nothing] })).rejects.toThrow(
    'PosthornModule takes an object of options, got undefined',
  );
  expect(() => Reflect.apply(PosthornModule.forRootAsync, PosthornModule, [{ useClass: Settings }])).toThrow(
    '"useClass" is not an option of PosthornModule.forRootAsync; its options are name, imports, inject, useFactory',
  );
  expect(() => Reflect.apply(PosthornModule.forWorker, PosthornModule, [{ worker: 1 }])).toThrow(
    '"worker" is not an option of PosthornModule.forWorker',
  );
  expect(() => Reflect.apply(PosthornModule.forWorker, PosthornModule, [{}])).toThrow(
    'useFactory of PosthornModule.forWorker must be a function, got undefined',
  );
  expect(() => OnWebhook('*', { receiver: '' })).toThrow('receiver must be the name of a receiver');
  expect(() => PosthornModule.forRoot({ ...options, name: '' })).toThrow(
    'name must be the name of a receiver, or be left out; got ""',
  );
});

test('the health of a receiver is an indicator of terminus', async () => {
  const module = await start({
    imports: [PosthornModule.forRoot({ ...options, name: 'async' })],
    providers: [Payments],
  });
  const receiver = module.get<Receiver>(getReceiverToken('async'));
  expect(await receiverHealth(receiver, 'webhooks')).toEqual({ webhooks: { status: 'up', code: undefined } });
  await receiver.close();
  expect(await receiverHealth(receiver, 'webhooks')).toMatchObject({ webhooks: { status: 'down' } });
  const health = await receiver.health();
  const failing = {
    ok: false,
    waiting: 1,
    leftOut: { bodies: 0, entries: 0 },
    error: new JournalError('journal_unavailable', 'the journal is away'),
  };
  const journalAway = { health: async () => ({ ...health, closing: false, journal: failing }) };
  expect(await receiverHealth(journalAway, 'webhooks')).toEqual({
    webhooks: { status: 'up', code: undefined },
  });
  const error = new UnavailableError('store_unavailable', 'the store is away');
  const away = {
    health: async () => ({ ...health, closing: false, store: { ok: false, latencyMs: 1, error } }),
  };
  expect(await receiverHealth(away, 'webhooks')).toEqual({
    webhooks: { status: 'down', code: 'store_unavailable' },
  });
});
