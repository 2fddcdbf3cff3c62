import 'reflect-metadata';
import type { ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import type { Receiver } from 'posthorn';
import { getReceiverToken, type PosthornModuleOptions } from 'posthorn/nestjs';
import { createEvent, deliver } from 'posthorn/testing';
import { onTestFinished } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';

/** The signing key of the receivers of these tests. */
export const key = 'key-of-nestjs';

/** The options of a receiver in these tests, quiet about its missing dead letters. */
export const options: PosthornModuleOptions = {
  path: '/webhooks',
  signingKey: key,
  deadLetters: createMapDeadLetters(),
};

/** Starts an application without a server, and closes it after the test. */
export async function start(metadata: ModuleMetadata): Promise<TestingModule> {
  const module = await Test.createTestingModule(metadata).compile();
  onTestFinished(() => module.close());
  return module.init();
}

/** Delivers an event to the receiver of an application, and returns the status of the answer. */
export async function send(
  module: Pick<TestingModule, 'get'>,
  type: string,
  receiver?: string,
): Promise<number> {
  const target = module.get<Receiver>(getReceiverToken(receiver));
  return (await deliver(target, createEvent(type, undefined, { any: true }), { key })).status;
}
