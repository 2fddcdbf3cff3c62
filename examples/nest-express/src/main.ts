// A NestJS application on Express that receives webhooks: `npm run build && SIGNING_KEY=… npm start`.
// NestJS 12 is ESM only. For 11 in CommonJS, remove `"type": "module"` from package.json: the sources stay as
// they are.

import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Receiver } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { ApplicationModule } from './application.module.js';
import { RECEIVER } from './webhooks.module.js';

async function start(): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(ApplicationModule, {
    logger: ['error', 'warn'],
  });
  // Nest adds its body parsers when it begins to listen, so a handler that is mounted before reads the raw
  // body.
  app.use(toExpress(app.get<Receiver>(RECEIVER), { path: '/webhooks' }));
  // Without this, Nest does not listen for SIGTERM, and `beforeApplicationShutdown` never runs.
  app.enableShutdownHooks();
  await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
  console.log(`listening on ${await app.getUrl()}/webhooks`);
}

void start();
