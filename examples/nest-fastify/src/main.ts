// A NestJS application on Fastify that receives webhooks: `SIGNING_KEY=… npm start`.

import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Receiver } from 'posthorn';
import { toFastify } from 'posthorn/fastify';
import { ApplicationModule, RECEIVER } from './application.module';

async function start(): Promise<void> {
  const app = await NestFactory.create<NestFastifyApplication>(ApplicationModule, new FastifyAdapter(), {
    logger: ['error', 'warn'],
  });
  await app.register(toFastify(app.get<Receiver>(RECEIVER), { path: '/webhooks' }));
  // Without this, Nest does not listen for SIGTERM, and `beforeApplicationShutdown` never runs.
  app.enableShutdownHooks();
  await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
  console.log(`listening on ${await app.getUrl()}/webhooks`);
}

void start();
