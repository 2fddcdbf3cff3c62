import type { AbstractHttpAdapter } from '@nestjs/core';
import { toExpress } from '../../adapters/express.ts';
import { type FastifyPlugin, toFastify } from '../../adapters/fastify.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import type { Mountable, Receiver } from '../receiver/receiver-interface.ts';
import { show } from '../receiver/values/foreign-values.ts';

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

/**
 * A receiver that holds deliveries until `started` resolves. A server may listen before all handlers are
 * registered, for example one that several applications share, or that of a cloud function.
 */
export function holdUntil(started: Promise<void>, receiver: Receiver): Mountable {
  return {
    receive: async (delivery) => {
      await started;
      return receiver.receive(delivery);
    },
    hasSignature: (headers) => receiver.hasSignature(headers),
    reportMisdirected: (headers, paths) => receiver.reportMisdirected(headers, paths),
  };
}
