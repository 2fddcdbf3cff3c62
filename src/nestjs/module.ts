import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { createReceiver } from '../create-receiver.ts';
import type { KnownEvent } from '../providers/banking-service/event.ts';
import { checkOptions, invalidOption } from '../receiver/checks/check-options.ts';
import type { TypedEvent } from '../receiver/events/event-types.ts';
import type { SchemasByEntity } from '../receiver/events/schema.ts';
import { optionNames } from '../receiver/settings.ts';
import { show } from '../receiver/values/foreign-values.ts';
import type { Receiver } from '../receiver-interface.ts';
import { ModuleCheck } from './module-check.ts';
import type {
  PosthornModuleAsyncOptions,
  PosthornModuleOptions,
  PosthornOptions,
  PosthornWorkerOptions,
} from './options.ts';
import { ReceiverLifecycle } from './receiver-lifecycle.ts';
import { getReceiverToken, OPTIONS, RECEIVER_LIFECYCLE, WORKER_LIFECYCLE } from './tokens.ts';
import { WorkerLifecycle } from './worker-lifecycle.ts';

/**
 * The module for NestJS 11 and 12. It mounts a receiver on Express or Fastify before NestJS parses bodies,
 * registers the methods with `@OnWebhook`, and closes the receiver before any other module is closed. An
 * application that has loaded a decorated method does not start if the method would never run.
 *
 * @example
 * ```ts
 * import { Module } from '@nestjs/common';
 * import { PosthornModule } from 'posthorn/nestjs';
 *
 * @Module({ imports: [PosthornModule.forRoot({ path: '/webhooks', signingKey: process.env.SIGNING_KEY })] })
 * export class WebhooksModule {}
 * ```
 */
// biome-ignore lint/complexity/noStaticOnlyClass: NestJS knows a module by its class.
export class PosthornModule {
  /**
   * Imports a receiver with these options. Give each of several receivers a name and a path of its own.
   *
   * @throws ConfigurationError for an unknown option; when the application starts, for a wrong one.
   */
  static forRoot<const S extends SchemasByEntity = Record<never, never>, E extends TypedEvent = KnownEvent>(
    options: PosthornModuleOptions<S, E>,
  ): DynamicModule {
    checkOptions(options, moduleOptionNames, 'PosthornModule.forRoot');
    return receiverModule<S, E>(options.name, { useFactory: () => options });
  }

  /**
   * Imports a receiver whose options come from other providers: of a configuration, or of the connections for
   * its store.
   *
   * @throws ConfigurationError for a wrong option; when the application starts, for a wrong one of the
   * receiver.
   *
   * @example
   * ```ts
   * import { ConfigService } from '@nestjs/config';
   * import { PosthornModule } from 'posthorn/nestjs';
   *
   * PosthornModule.forRootAsync({
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => ({ path: '/webhooks', signingKey: config.get('SIGNING_KEY') }),
   * });
   * ```
   */
  static forRootAsync<
    const S extends SchemasByEntity = Record<never, never>,
    E extends TypedEvent = KnownEvent,
  >(options: PosthornModuleAsyncOptions<S, E>): DynamicModule {
    checkFactory(options, 'PosthornModule.forRootAsync');
    const { name, ...factory } = options;
    return receiverModule<S, E>(name, factory);
  }

  /**
   * Imports a worker of the receiver's queue. It starts once all handlers are registered, and closes before
   * the receiver.
   *
   * @throws ConfigurationError for a wrong option.
   *
   * @example
   * ```ts
   * import { createBullWorker } from 'posthorn/bullmq';
   * import { PosthornModule } from 'posthorn/nestjs';
   *
   * PosthornModule.forWorker({
   *   useFactory: (receiver) => createBullWorker(receiver, { connection, scope }),
   * });
   * ```
   */
  static forWorker(options: PosthornWorkerOptions): DynamicModule {
    checkFactory(options, 'PosthornModule.forWorker');
    const { name, imports = [], inject = [], useFactory } = options;
    const lifecycle: Provider = {
      provide: WORKER_LIFECYCLE,
      inject: [DiscoveryService, getReceiverToken(name), ...inject],
      useFactory: (discovery: DiscoveryService, receiver: Receiver, ...dependencies) =>
        new WorkerLifecycle(() => useFactory(receiver, ...dependencies), discovery),
    };
    return { module: PosthornModule, imports, providers: [lifecycle] };
  }
}

// The decorator is called as a function, because Node.js runs these sources without a compiler. NestJS merges
// this metadata with the results of forRoot, forRootAsync and forWorker.
Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: ModuleCheck,
      inject: [DiscoveryService],
      useFactory: (discovery: DiscoveryService) => new ModuleCheck(discovery),
    },
  ],
})(PosthornModule);

function receiverModule<S extends SchemasByEntity, E extends TypedEvent>(
  name: string | undefined,
  { imports = [], inject = [], useFactory }: Omit<PosthornModuleAsyncOptions<S, E>, 'name'>,
): DynamicModule {
  const token = getReceiverToken(name);
  return {
    module: PosthornModule,
    global: true,
    imports,
    providers: [
      { provide: OPTIONS, inject, useFactory },
      {
        provide: token,
        inject: [OPTIONS],
        useFactory: (options: PosthornOptions<S, E>) => createReceiverFrom(options, name),
      },
      {
        provide: RECEIVER_LIFECYCLE,
        inject: [OPTIONS, token, DiscoveryService, HttpAdapterHost],
        useFactory: (...parts: Dependencies) => new ReceiverLifecycle(name, ...parts),
      },
    ],
    exports: [token],
  };
}

function checkFactory(options: { readonly useFactory: unknown }, functionName: string): void {
  checkOptions(options, ['name', 'imports', 'inject', 'useFactory'], functionName);
  if (typeof options.useFactory === 'function') return;
  throw invalidOption('useFactory', `of ${functionName} must be a function, got ${show(options.useFactory)}`);
}

const moduleOptionNames = ['path', 'operator', ...optionNames];

type Dependencies = [PosthornOptions, Receiver, DiscoveryService, HttpAdapterHost];

function createReceiverFrom<S extends SchemasByEntity, E extends TypedEvent>(
  options: PosthornOptions<S, E>,
  name: string | undefined,
): Receiver<S, E> {
  checkOptions(options, moduleOptionNames, 'PosthornModule');
  const { path, operator, ...receiverOptions } = options;
  return createReceiver<S, E>({ ...receiverOptions, name: receiverOptions.name ?? name });
}
