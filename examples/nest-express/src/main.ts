// A NestJS application on Express that receives webhooks: `npm run build && SIGNING_KEY=… npm start`.
// NestJS 12 is ESM only. For 11 in CommonJS, remove `"type": "module"` from package.json: the sources stay as
// they are.

import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { ApplicationModule } from './application.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(ApplicationModule);
  // Without this, NestJS does not listen for SIGTERM, which then cuts off the running deliveries.
  app.enableShutdownHooks();
  await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
  console.log(`listening on ${await app.getUrl()}/webhooks`);
}

void bootstrap();
