import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { NodeRequest } from '../../adapters/node-http.ts';
import type { OperatorIdentity, OperatorOptions } from '../operator/options.ts';
import type { KnownEvent } from '../providers/banking-service/event.ts';
import type { Schemas } from '../providers/banking-service/event-data.ts';
import type { TypedEvent } from '../receiver/events/event-types.ts';
import type { SchemasByEntity } from '../receiver/events/schema.ts';
import type { Awaitable } from '../receiver/timing/awaitable.ts';
import type { Receiver, ReceiverOptions } from '../receiver-interface.ts';

/** Options of the interface of operators: those of `toNodeOperator` of `posthorn/operator`. */
export interface PosthornOperatorOptions extends Omit<OperatorOptions, 'authorize'> {
  /**
   * Says who sends a request, as for `toNodeOperator`. The request of Node.js comes before guards and
   * middleware, so it has no session yet: read a header or a cookie.
   */
  // A method, so that its parameter may be the request of Express.
  authorize(request: Request, incoming: NodeRequest): Awaitable<OperatorIdentity | undefined | null | false>;
}

/** Options of `PosthornModule`: those of `createReceiver`, the path, and `operator`. */
export interface PosthornOptions<S extends SchemasByEntity = Schemas, E extends TypedEvent = KnownEvent>
  extends ReceiverOptions<S, E> {
  /**
   * The whole path of the webhook, for example `/webhooks`, with or without a slash at its end. A global
   * prefix, a version and a guard do not apply to it.
   */
  readonly path: string;
  /**
   * Serves the interface of operators under a whole path of its own: `{ path: '/operator', authorize }`.
   * Without it there is none.
   */
  readonly operator?: PosthornOperatorOptions | undefined;
}

/** Options of `PosthornModule.forRoot`. */
export interface PosthornModuleOptions<S extends SchemasByEntity = Schemas, E extends TypedEvent = KnownEvent>
  extends PosthornOptions<S, E> {
  /**
   * The name of the receiver, if the application has several. `@OnWebhook(pattern, { receiver: name })` and
   * `@InjectReceiver(name)` refer to it. One receiver may be without a name.
   */
  readonly name?: string | undefined;
}

/** The dependencies of `useFactory`, as NestJS has them. */
export interface FactoryDependencies {
  /** The modules that export the providers. */
  readonly imports?: ModuleMetadata['imports'] | undefined;
  /** The tokens of the providers that `useFactory` gets. */
  readonly inject?: FactoryProvider['inject'] | undefined;
}

/** Options of `PosthornModule.forRootAsync`. */
export interface PosthornModuleAsyncOptions<
  S extends SchemasByEntity = Schemas,
  E extends TypedEvent = KnownEvent,
> extends FactoryDependencies {
  /** The name of the receiver, as in {@link PosthornModuleOptions}. */
  readonly name?: string | undefined;
  /** Returns the options, or a promise of them. It gets the providers that `inject` names. */
  readonly useFactory: FactoryProvider<PosthornOptions<S, E>>['useFactory'];
}

/** A worker that runs until it is closed, for example that of `createBullWorker`. */
export interface QueueWorker {
  /** Finishes the running jobs. */
  close(): unknown;
}

/** Options of `PosthornModule.forWorker`. */
export interface PosthornWorkerOptions extends FactoryDependencies {
  /** The name of the receiver whose jobs it runs, if the receiver has one. */
  readonly name?: string | undefined;
  /** Starts the worker. It gets the receiver, and then the providers that `inject` names. */
  readonly useFactory: (
    receiver: Receiver,
    ...dependencies: Parameters<FactoryProvider['useFactory']>
  ) => QueueWorker | Promise<QueueWorker>;
}
