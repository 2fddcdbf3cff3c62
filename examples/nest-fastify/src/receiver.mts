// The receiver without a server, with the services that have its handlers, for the commands of an on-call: `npx
// posthorn dead-letters list --receiver dist/receiver.mjs`. A file with this ending is ESM in each project, and
// ESM may wait at its top level.

import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { Receiver } from 'posthorn';
import { getReceiverToken } from 'posthorn/nestjs';
import { WebhooksModule } from './webhooks.module.js';

const context = await NestFactory.createApplicationContext(WebhooksModule, {
  logger: ['error'], // NestJS prints the rest to stdout, where the results of a command go
  abortOnError: false, // the command tells the error
});
export const receiver: Receiver = context.get(getReceiverToken());
