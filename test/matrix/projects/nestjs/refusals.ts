// Starts applications with a mistake each, and prints the errors. With the argument "default" it starts one
// as programs do, which ends the process.

import 'reflect-metadata';
import { Injectable, Module, type Provider, Scope, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { WebhookEvent } from 'posthorn';
import { OnWebhook, PosthornModule } from 'posthorn/nestjs';

function importReceiver(name: string) {
  return PosthornModule.forRoot({ name, path: '/webhooks', signingKey: 'key-of-refusals' });
}

/** A class with a handler for a receiver. */
function paymentsOf(receiver: string, pattern = 'transfer.*' as 'transfer.*'): Type<unknown> {
  @Injectable()
  class Payments {
    @OnWebhook(pattern, { receiver })
    book(_event: WebhookEvent): void {}
  }
  return Payments;
}

async function printRefusal(name: string, providers: readonly Provider[]): Promise<void> {
  @Module({ imports: [importReceiver(name)], providers: [...providers] })
  class ApplicationModule {}
  const options = { abortOnError: false, logger: false } as const;
  await NestFactory.createApplicationContext(ApplicationModule, options).then(
    () => console.log(`${name}: started`),
    (error: Error) => console.log(`${name}: ${error.message}`),
  );
}

async function printRefusals(): Promise<void> {
  const Request = paymentsOf('request');
  const Transient = paymentsOf('transient');
  paymentsOf('forgotten');
  await printRefusal('empty', []);
  await printRefusal('forgotten', []);
  await printRefusal('misspelt', [paymentsOf('misspelt', 'transfers.*' as 'transfer.*')]);
  await printRefusal('request', [{ provide: Request, useClass: Request, scope: Scope.REQUEST }]);
  await printRefusal('transient', [{ provide: Transient, useClass: Transient, scope: Scope.TRANSIENT }]);
  await printRefusal('other', [paymentsOf('another')]);
}

async function start(): Promise<void> {
  @Module({ imports: [importReceiver('empty')] })
  class ApplicationModule {}
  const app = await NestFactory.create(ApplicationModule, { logger: ['error'] });
  await app.listen(0);
}

void (process.argv[2] === 'default' ? start() : printRefusals());
