// A NestJS application on Fastify that receives webhooks: `npm run build && SIGNING_KEY=… npm start`.
// NestJS 12 is ESM only. For 11 in CommonJS, remove `"type": "module"` from package.json: the sources stay as
// they are.

import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Receiver } from 'posthorn';
import { toFastify } from 'posthorn/fastify';
import { ApplicationModule } from './application.module.js';
import { RECEIVER } from './webhooks.module.js';

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
