import 'reflect-metadata';
import { All, Controller, Inject, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { createReceiver, type Receiver } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { PosthornModule } from 'posthorn/nestjs';
import { toNode } from 'posthorn/node';
import { createEvent, deliver } from 'posthorn/testing';

const RECEIVER = Symbol('receiver');
const key = 'key-of-nest';

function createNamed(name: string): Receiver {
  const receiver = createReceiver({ signingKey: key });
  return receiver
    .on('*', ({ type }) => console.log(name, type))
    .observe(({ code, error }) => {
      if (code === 'body_already_parsed') console.log(name, error?.message.match(/NestFactory.*/)?.[0]);
    });
}

@Controller()
class WebhooksController {
  readonly #handle: ReturnType<typeof toExpress>;

  constructor(@Inject(RECEIVER) receiver: Receiver) {
    this.#handle = toExpress(receiver);
  }

  /** Behind the body parser of Nest, which keeps the raw body. */
  @All('controller')
  receive(@Req() request: Request, @Res() response: Response): void {
    this.#handle(request, response, (error?: unknown) => console.error('not handled', error));
  }
}

@Module({
  controllers: [WebhooksController],
  providers: [{ provide: RECEIVER, useFactory: () => createNamed('controller') }],
})
class ApplicationModule {}

async function start(): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(ApplicationModule, {
    rawBody: true,
    logger: ['error'],
  });
  app.use('/express', toExpress(createNamed('express')));
  app.use('/node', toNode(createNamed('node')));
  app.use((_request: Request, _response: Response, next: NextFunction) => next());
  await app.listen(0, '127.0.0.1');
  for (const path of ['controller', 'express', 'node']) {
    const url = `${await app.getUrl()}/${path}`;
    const accepted = await deliver(url, createEvent('transfer.succeeded'), { key });
    const forged = await deliver(url, createEvent('transfer.succeeded'), { key: 'another' });
    console.log(path, accepted.status, (await accepted.json()).outcome, forged.status);
  }
  await app.close();
}

/** Without the option, Nest's parser does not keep the bytes. */
async function startWithoutRawBody(): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(ApplicationModule, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/controller`;
  const refused = await deliver(url, createEvent('transfer.succeeded'), { key });
  console.log('controller', refused.status, (await refused.json()).code);
  await app.close();
}

/** Versions before 11.1.4 cannot mount by themselves. */
async function startWithModule(): Promise<void> {
  @Module({ imports: [PosthornModule.forRoot({ path: '/webhooks', signingKey: key })] })
  class WebhooksModule {}

  const started = NestFactory.createApplicationContext(WebhooksModule, {
    logger: false,
    abortOnError: false,
  });
  await started.catch((error: Error) => console.log('module', error.message));
}

void start().then(startWithoutRawBody).then(startWithModule);
