import express from 'express';
import { type Authentication, createReceiver, type Report } from 'posthorn';
import { toExpress } from 'posthorn/express';
import type { Sandbox } from 'posthorn/sandbox';
import { onTestFinished } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';

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
  onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
  receiving.url = `${await listenUntilTheEnd(express().use('/webhooks', toExpress(receiver)))}/webhooks`;
  return receiving;
}
