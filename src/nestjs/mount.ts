import type { AbstractHttpAdapter } from '@nestjs/core';
import { toExpress } from '../../adapters/express.ts';
import { type FastifyPlugin, toFastify } from '../../adapters/fastify.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import type { Mountable } from '../receiver/receiver-interface.ts';
import { show } from '../receiver/values/foreign-values.ts';

/**
 * Mounts a receiver. Called before the application is initialized, that is before NestJS adds its body
 * parsers; on Fastify the order is of no importance, because the route answers before any parser.
 */
export function mountOn(adapter: AbstractHttpAdapter, receiver: Mountable, path: string): void {
  if (adapter.getType() === 'express') adapter.use(toExpress(receiver, { path }));
  if (adapter.getType() === 'fastify')
    adapter.getInstance<PluginRegistry>().register(toFastify(receiver, { path }));
}

interface PluginRegistry {
  register(plugin: FastifyPlugin): unknown;
}

/** Throws {@link ConfigurationError} for an adapter on which {@link mountOn} mounts nothing. */
export function checkAdapter(adapter: AbstractHttpAdapter): void {
  const type = adapter.getType();
  if (type === 'express' || type === 'fastify') return;
  throw new ConfigurationError(
    `PosthornModule mounts on Express and Fastify, and this application runs on ${show(type)}: ` +
      'create a receiver by createReceiver and mount it with the adapter of that framework',
  );
}
