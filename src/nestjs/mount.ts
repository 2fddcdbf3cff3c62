import type { AbstractHttpAdapter } from '@nestjs/core';
import { toExpress } from '../../adapters/express.ts';
import { type FastifyPlugin, toFastify } from '../../adapters/fastify.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import type { Delivery, Reply } from '../receiver/request/delivery.ts';
import { performance } from '../receiver/timing/process-clock.ts';
import { settledWithin } from '../receiver/timing/time-limit.ts';
import { show } from '../receiver/values/foreign-values.ts';
import type { Mountable, Receiver } from '../receiver-interface.ts';

/**
 * Mounts a receiver. On Express it must be called before the application is initialized, because NestJS adds
 * its body parsers then. On Fastify the order does not matter: the route answers before any parser.
 *
 * @throws ConfigurationError for an adapter of another framework.
 */
export function mountOn(adapter: AbstractHttpAdapter, receiver: Mountable, path: string): void {
  const type = adapter.getType();
  if (type === 'express') adapter.use(toExpress(receiver, { path }));
  else if (type === 'fastify') adapter.getInstance<PluginRegistry>().register(toFastify(receiver, { path }));
  else {
    throw new ConfigurationError(
      `PosthornModule mounts on Express and Fastify, and this application runs on ${show(type)}: ` +
        'create a receiver by createReceiver and mount it with the adapter of that framework',
    );
  }
}

interface PluginRegistry {
  register(plugin: FastifyPlugin): unknown;
}

/** Below the 30 seconds after which the service hangs up. */
const ANSWER_MS = 25_000;

/** The time for an answer to a sender that hangs up after so many milliseconds: five sixths of it. */
export function answerMsOf(answerWithinMs: number | undefined): number {
  return answerWithinMs === undefined ? ANSWER_MS : Math.floor((answerWithinMs * 5) / 6);
}

/**
 * A receiver that holds deliveries until `started` resolves. A server may listen before all handlers are
 * registered, for example one that several applications share, or that of a cloud function.
 */
export function holdUntil(
  started: Promise<void>,
  receiver: Receiver,
  answerMs: number = ANSWER_MS,
): Mountable {
  let isStarted = false;
  void started.then(() => {
    isStarted = true;
  });
  const hold = async (delivery: Delivery): Promise<Reply> => {
    const heldSince = performance.now();
    await settledWithin(started, answerMs);
    if (!isStarted) return NOT_STARTED;
    const timeLimitMs = answerMs - (performance.now() - heldSince);
    return receiver.receive({ ...delivery, timeLimitMs });
  };
  return {
    receive: (delivery) => (isStarted ? receiver.receive(delivery) : hold(delivery)),
    hasSignature: (headers) => receiver.hasSignature(headers),
    reportMisdirected: (headers, paths) => receiver.reportMisdirected(headers, paths),
  };
}

const NOT_STARTED: Reply = {
  status: 503,
  headers: { 'content-type': 'application/problem+json', 'retry-after': '60' },
  body: JSON.stringify({ title: 'The application has not started', status: 503, code: 'no_handlers' }),
  close: false,
  drainMs: 1_000,
};
