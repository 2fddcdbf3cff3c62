import { Controller, Get, Injectable } from '@nestjs/common';
import type express from 'express';
import { type DeadLetters, PermanentError, type WebhookEvent } from 'posthorn';
import { OnWebhook, PosthornModule, type PosthornOperatorOptions } from 'posthorn/nestjs';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { shutGate } from '../support/gate.ts';
import { startServer } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { silenced } from '../support/silenced.ts';
import { key, options, send, start } from './application.ts';
import { createApplication } from './server.ts';

const operator: PosthornOperatorOptions = {
  path: '/operator',
  authorize: ({ headers }, { method }) =>
    headers.get('authorization') === 'Bearer anna' && { name: `anna, ${method}` },
};

/** An application with an interface of operators, whose handler fails until it is mended. */
function applicationWith(deadLetters: DeadLetters = createMapDeadLetters()) {
  silenced('info');
  @Injectable()
  class Payments {
    isMended = false;

    @OnWebhook('*', { name: 'book' })
    book(_event: WebhookEvent): void {
      if (!this.isMended) throw new PermanentError('the account is closed');
    }
  }
  @Controller()
  class OtherController {
    @Get('operators')
    list(): string {
      return 'another page';
    }
  }
  const imports = [PosthornModule.forRoot({ ...options, deadLetters, operator })];
  return { Payments, metadata: { imports, providers: [Payments], controllers: [OtherController] } };
}

function ask(url: string, path: string, body?: object): Promise<Response> {
  const headers = { authorization: 'Bearer anna', 'content-type': 'application/json' };
  return fetch(`${url}${path}`, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
}

describe.each(['Express', 'Fastify'] as const)('on %s', (server) => {
  test('the option `operator` serves the page and the interface beside the webhook', async () => {
    const { metadata, Payments } = applicationWith();
    const app = await createApplication(metadata, { server });
    app.setGlobalPrefix('api');
    await app.listen(0, '127.0.0.1');
    const url = (await app.getUrl()).replace(/\/api$/, '');
    const event = createEvent('transfer.succeeded');
    expect(await (await deliver(`${url}/webhooks`, event, { key })).json()).toMatchObject({
      outcome: 'parked',
    });

    expect((await fetch(`${url}/operator/api/health`)).status).toBe(403);
    expect(await (await ask(url, '/operator/api/health')).json()).toMatchObject({ store: { ok: true } });
    expect(await (await ask(url, '/operator/api/receivers')).json()).toMatchObject({
      operator: { name: 'anna, GET' },
    });
    for (const path of ['/operator', '/operator/', '/operator/page/page.js'])
      expect((await ask(url, path)).status, path).toBe(200);
    app.get(Payments).isMended = true;
    const replay = await ask(url, '/operator/api/dead-letters/replay', { ids: [event.id] });
    expect(await replay.json()).toMatchObject({ results: [{ id: event.id, outcome: 'processed' }] });
    expect(await (await ask(url, '/operator/api/nothing')).json()).toMatchObject({ code: 'not_found' });
    expect(await (await ask(url, '/api/operators')).text()).toBe('another page');
    expect((await ask(url, '/api/operator/api/health')).status).toBe(404);
  });
});

test('it is not there before all handlers are', async () => {
  const { metadata } = applicationWith();
  const gate = shutGate();
  class Database {
    onModuleInit = () => gate.pass();
  }
  const app = await createApplication({ ...metadata, providers: [...metadata.providers, Database] });
  const url = await startServer(app.getHttpServer());
  const started = app.init();
  await gate.held.nth(1);
  expect((await ask(url, '/operator/api/health')).status).toBe(404);
  gate.open();
  await started;
  expect((await ask(url, '/operator/api/health')).status).toBe(200);
});

test('forRootAsync takes it, and each of several receivers has its own', async () => {
  const forName = (name: string, path: string) =>
    PosthornModule.forRootAsync({
      name,
      useFactory: () => ({ ...options, path: `/webhooks/${name}`, operator: { ...operator, path } }),
    });
  @Injectable()
  class Handlers {
    @OnWebhook('*', { receiver: 'one' })
    one(_event: WebhookEvent): void {}

    @OnWebhook('*', { receiver: 'two' })
    two(_event: WebhookEvent): void {}
  }
  const imports = [forName('one', '/operators/one'), forName('two', '/operators/two')];
  const app = await createApplication({ imports, providers: [Handlers] });
  await app.listen(0, '127.0.0.1');
  for (const name of ['one', 'two'])
    expect(await (await ask(await app.getUrl(), `/operators/${name}/api/receivers`)).json()).toMatchObject({
      receivers: [{ name }],
    });
});

test('`authorize` may take the request of Express', async () => {
  const { metadata } = applicationWith();
  const authorize = (_request: Request, { hostname }: express.Request) => ({ name: hostname });
  const imports = [PosthornModule.forRoot({ ...options, operator: { ...operator, authorize } })];
  const app = await createApplication({ ...metadata, imports });
  await app.listen(0, '127.0.0.1');
  const answer = await fetch(`${await app.getUrl()}/operator/api/receivers`);
  expect(await answer.json()).toMatchObject({ operator: { name: '127.0.0.1' } });
});

test.each([
  [{ path: '/operator' }, 'operator of PosthornModule needs the option authorize'],
  [{ ...operator, secret: 'x' }, '"secret" is not an option of operator of PosthornModule; its options are'],
  [{ ...operator, path: 'operator' }, 'path must begin with "/"'],
  ['/operator', 'operator of PosthornModule takes an object of options, got "/operator"'],
])('the start refuses %o', async (wrong, message) => {
  const { metadata } = applicationWith();
  const imports = [Reflect.apply(PosthornModule.forRoot, PosthornModule, [{ ...options, operator: wrong }])];
  await expect(start({ ...metadata, imports })).rejects.toThrow(message);
});

test.each([
  ['/webhooks', '/webhooks', '"/webhooks" of the option operator hides "/webhooks"'],
  ['/', '/webhooks', '"/" of the option operator hides "/webhooks"'],
  ['/operator', '/operator/partners', '"/operator" of the option operator hides "/operator/partners"'],
  ['/operator', '/operator', '"/operator" of the option operator hides "/operator"'],
])('the start refuses %s for operators beside %s', async (path, other, message) => {
  const { metadata } = applicationWith();
  const partners = {
    ...options,
    name: 'partners',
    path: '/partners',
    operator: { ...operator, path: other },
  };
  const own = PosthornModule.forRoot({ ...options, operator: { ...operator, path } });
  const imports = [own, ...(other === '/webhooks' ? [] : [PosthornModule.forRoot(partners)])];
  await expect(start({ ...metadata, imports })).rejects.toThrow(`the path ${message}`);
});

test('an application without a server has no interface', async () => {
  const { metadata } = applicationWith();
  expect(await send(await start(metadata), 'transfer.succeeded')).toBe(200);
});
