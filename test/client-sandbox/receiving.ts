import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { type Authentication, createReceiver, type Report } from 'posthorn';
import { toExpress } from 'posthorn/express';
import type { Sandbox } from 'posthorn/sandbox';
import { onTestFinished } from 'vitest';

/** A receiver on Express, on the sandbox's clock. */
export interface Receiving {
  readonly url: string;
  /** What is accepted from now on; a receiver without a key accepts nothing. */
  readonly keys: string[];
  /** The ids of the events that were handled to the end, each as often as that happened. */
  readonly handled: string[];
  readonly reports: Report[];
  /** Called with the id of each event before it is handled; what it throws fails the attempt. */
  onEvent: (id: string) => void;
}

export async function receive(sandbox: Sandbox, authentication?: Authentication): Promise<Receiving> {
  const receiving = {
    url: '',
    keys: ['a key that nobody has'],
    handled: [] as string[],
    reports: [] as Report[],
    onEvent: (_id: string): void => {},
  };
  const receiver = createReceiver({
    signingKey: async () => receiving.keys,
    now: sandbox.clock.now,
    ...(authentication && { authentication }),
  });
  receiver.on('*', ({ id }) => {
    receiving.onEvent(id);
    receiving.handled.push(id);
  });
  receiver.observe((report) => void receiving.reports.push(report));
  const server = createServer(express().use('/webhooks', toExpress(receiver)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await receiver.close({ graceMs: 0 });
  });
  receiving.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
  return receiving;
}
