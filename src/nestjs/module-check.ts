import type { OnModuleInit } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { ConfigurationError } from '../receiver/errors.ts';
import { noteDeclared } from './declared-methods.ts';
import { closesFirst } from './hook-order.ts';
import { RECEIVER_LIFECYCLE, WORKER_LIFECYCLE } from './tokens.ts';

/**
 * Notes the decorated methods when the container is built. Refuses to start without a receiver, and if the
 * hooks of a receiver or worker would never run, or not in their order.
 */
export class ModuleCheck implements OnModuleInit {
  readonly #discovery: DiscoveryService;

  constructor(discovery: DiscoveryService) {
    this.#discovery = discovery;
    noteDeclared(discovery);
  }

  onModuleInit(): void {
    const lifecycles = this.#discovery
      .getProviders()
      .filter(({ token }) => token === RECEIVER_LIFECYCLE || token === WORKER_LIFECYCLE);
    if (lifecycles.length === 0) {
      throw new ConfigurationError(
        'PosthornModule is imported without options, so it has no receiver: ' +
          "import PosthornModule.forRoot({ path: '/webhooks', signingKey })",
      );
    }
    // NestJS creates such a provider for each request to its own routes, and does not call its hooks.
    if (lifecycles.some((lifecycle) => !lifecycle.isDependencyTreeStatic())) {
      throw new ConfigurationError(
        'the options of PosthornModule depend on a provider of the scope REQUEST, which does not exist when ' +
          'the application starts: inject only providers of the default scope',
      );
    }
    if (!lifecycles.every(closesFirst)) {
      throw new ConfigurationError(
        'this version of @nestjs/core does not let PosthornModule close before the modules whose connections ' +
          'its handlers use: install NestJS 11 or 12, for which posthorn/nestjs is made',
      );
    }
  }
}
