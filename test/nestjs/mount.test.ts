import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Injectable,
  Module,
  Post,
} from '@nestjs/common';
import { APP_GUARD, HttpAdapterHost, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { WebhookEvent } from 'posthorn';
import { getReceiverToken, OnWebhook, PosthornModule } from 'posthorn/nestjs';
import { adapterConformance, createEvent, deliver, type ServePath, signedHeaders } from 'posthorn/testing';
import request from 'supertest';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mountOn } from '../../src/nestjs/mount.ts';
import { key, options, send } from './application.ts';
import { createApplication } from './server.ts';

@Injectable()
class Payments {
  readonly booked: string[] = [];

  @OnWebhook('transfer.succeeded')
  book({ id }: WebhookEvent): void {
    this.booked.push(id);
  }
}

@Controller()
class EchoController {
  @Post('echo')
  echo(@Body() body: unknown): unknown {
    return body;
  }
}

@Injectable()
class RefuseAll implements CanActivate {
  canActivate(_context: ExecutionContext): boolean {
    return false;
  }
}

const webhooks = PosthornModule.forRoot(options);

@Module({ imports: [webhooks], providers: [Payments], controllers: [EchoController] })
class ApplicationModule {}

describe.each(['Express', 'Fastify'] as const)('on %s', (server) => {
  const servePath: ServePath = async (receiver, path) => {
    const app = await createApplication({}, { server });
    mountOn(app.get(HttpAdapterHost).httpAdapter, receiver, path);
    await app.listen(0, '127.0.0.1');
    return { url: await app.getUrl(), close: () => app.close() };
  };
  const cases = adapterConformance((receiver) => servePath(receiver, '/webhooks'), { servePath });
  test.each(cases.filter(({ name }) => name.startsWith('paths')))('$name', ({ run }) => run());

  describe.each([true, false])('with rawBody %s', (rawBody) => {
    test('app.listen mounts before the parsers of NestJS, which parse all other bodies', async () => {
      const app = await createApplication({ imports: [ApplicationModule] }, { server, rawBody });
      await app.listen(0, '127.0.0.1');
      const event = createEvent('transfer.succeeded');
      const answer = await deliver(`${await app.getUrl()}/webhooks`, event, { key });
      expect([answer.status, await answer.json()]).toMatchObject([200, { outcome: 'processed' }]);
      expect(app.get(Payments).booked).toEqual([event.id]);
      const echoed = await request(app.getHttpServer())
        .post('/echo')
        .send({ a: [1] });
      expect(echoed.body).toEqual({ a: [1] });
    });

    test('app.init is enough for supertest', async () => {
      const app = await createApplication({ imports: [ApplicationModule] }, { server, rawBody });
      await app.init();
      if (server === 'Fastify') await app.getHttpAdapter().getInstance().ready();
      const body = JSON.stringify(createEvent('transfer.succeeded'));
      const post = (headers: Record<string, string>) =>
        request(app.getHttpServer()).post('/webhooks').set(headers).type('application/json').send(body);
      expect((await post(signedHeaders(body, { key }))).status).toBe(200);
      expect((await post(signedHeaders(body, { key: 'forged' }))).status).toBe(403);
    });
  });

  test('a global prefix and a global guard do not apply', async () => {
    const app = await createApplication(
      { imports: [ApplicationModule], providers: [{ provide: APP_GUARD, useClass: RefuseAll }] },
      { server },
    );
    app.setGlobalPrefix('api');
    await app.listen(0, '127.0.0.1');
    const url = (await app.getUrl()).replace(/\/api$/, '');
    const post = (path: string) => deliver(`${url}${path}`, createEvent('transfer.succeeded'), { key });
    expect((await post('/webhooks')).status).toBe(200);
    expect((await post('/api/webhooks')).status).toBe(404);
    expect((await post('/api/echo')).status).toBe(403);
  });

  test('several receivers have a path and handlers each', async () => {
    @Injectable()
    class Partners {
      readonly seen: string[] = [];

      @OnWebhook('*', { receiver: 'partners' })
      see({ type }: WebhookEvent): void {
        this.seen.push(type);
      }
    }
    const partners = PosthornModule.forRoot({
      ...options,
      name: 'partners',
      path: '/partners',
      signingKey: 'other',
    });
    const app = await createApplication(
      { imports: [ApplicationModule, partners], providers: [Partners] },
      { server },
    );
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const event = createEvent('transfer.succeeded');
    expect((await deliver(`${url}/partners`, event, { key: 'other' })).status).toBe(200);
    expect((await deliver(`${url}/partners`, event, { key })).status).toBe(403);
    expect([app.get(Partners).seen, app.get(Payments).booked]).toEqual([['transfer.succeeded'], []]);
    expect((await deliver(`${url}/webhooks`, event, { key })).status).toBe(200);
    expect([app.get(Partners).seen, app.get(Payments).booked]).toEqual([['transfer.succeeded'], [event.id]]);
  });
});

test('an adapter of another framework is refused by name', async () => {
  const adapter = Object.assign(new ExpressAdapter(), { getType: () => 'another' });
  const module = await Test.createTestingModule({ imports: [ApplicationModule] }).compile();
  const app = module.createNestApplication(adapter, { logger: false });
  onTestFinished(() => app.close());
  await expect(app.init()).rejects.toThrow(
    'PosthornModule mounts on Express and Fastify, and this application runs on "another"',
  );
});

test('an application without a server has the receiver and its handlers', async () => {
  const context = await NestFactory.createApplicationContext(ApplicationModule, { logger: false });
  onTestFinished(() => context.close());
  expect(await send(context, 'transfer.succeeded')).toBe(200);
  expect(context.get(Payments).booked).toHaveLength(1);
});

test('a version of NestJS without `init$` is refused', async () => {
  const builder = Test.createTestingModule({ imports: [ApplicationModule] });
  await expect(builder.overrideProvider(HttpAdapterHost).useValue({}).compile()).rejects.toThrow(
    'posthorn/nestjs needs NestJS 11.1.4 or later',
  );
});

test('on Fastify a controller with the same path is refused, and the application can be closed', async () => {
  @Controller()
  class Others {
    @Post('webhooks')
    receive(): void {}
  }
  @Module({ imports: [ApplicationModule], controllers: [Others] })
  class OthersModule {}
  const app = await NestFactory.create(OthersModule, new FastifyAdapter(), { logger: false });
  onTestFinished(() => app.close());
  await expect(app.listen(0, '127.0.0.1')).rejects.toThrow('toFastify cannot add its route "/webhooks"');
});

test('a replaced receiver without the methods of one stops the start', async () => {
  const builder = Test.createTestingModule({ imports: [ApplicationModule] });
  const module = await builder.overrideProvider(getReceiverToken()).useValue({}).compile();
  const app = module.createNestApplication({ logger: false });
  await expect(app.init()).rejects.toThrow('@OnWebhook of Payments.book: receiver.on is not a function');
});
