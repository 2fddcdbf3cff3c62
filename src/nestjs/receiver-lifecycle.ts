import { Logger, type OnApplicationBootstrap, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { readPath } from '../../adapters/served-path.ts';
import type { NodeOperatorHandler } from '../operator/to-node-operator.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import { propertyOf } from '../receiver/values/foreign-values.ts';
import type { Receiver } from '../receiver-interface.ts';
import { closeInHook } from './close-in-hook.ts';
import { closeFirst } from './hook-order.ts';
import { answerMsOf, holdUntil, mountOn } from './mount.ts';
import { createOperator, mountOperatorOn } from './mount-operator.ts';
import type { PosthornOptions } from './options.ts';
import { checkDistinct, type Endpoint, registerMethods } from './registration.ts';
import { RECEIVER_LIFECYCLE } from './tokens.ts';

const logger = new Logger('PosthornModule');

/** Mounts a receiver, registers the methods that are decorated for it, and closes it. */
export class ReceiverLifecycle implements Endpoint, OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly name: string | undefined;
  readonly path: string;
  readonly operatorPath: string | undefined;
  readonly #receiver: Receiver;
  readonly #operator: NodeOperatorHandler | undefined;
  #queue: PosthornOptions['queue'];
  readonly #discovery: DiscoveryService;
  readonly #host: HttpAdapterHost;
  readonly #started: Promise<void>;
  readonly #answerMs: number;
  #start: () => void = () => {};
  #mountError: unknown;
  #isRegistered = false;

  constructor(
    name: string | undefined,
    { operator, path, provider, queue }: PosthornOptions,
    receiver: Receiver,
    discovery: DiscoveryService,
    host: HttpAdapterHost,
  ) {
    if (host.init$ === undefined)
      throw new ConfigurationError('posthorn/nestjs needs NestJS 11.1.4 or later: update @nestjs/core');
    this.name = name;
    this.path = readPath(path);
    this.#receiver = receiver;
    this.#queue = queue;
    this.#discovery = discovery;
    this.#host = host;
    this.#started = new Promise((resolve) => {
      this.#start = resolve;
    });
    this.#answerMs = answerMsOf(provider?.answerWithinMs);
    this.#operator = operator === undefined ? undefined : createOperator(receiver, operator, this.#started);
    this.operatorPath = operator && readPath(operator.path);
    closeFirst(discovery, RECEIVER_LIFECYCLE, -1);
    // A testing module gets its adapter after its providers, and any application before its body parsers.
    host.init$.subscribe(() => this.#mount());
  }

  /**
   * Registers the decorated methods: all other providers exist now, and their `onModuleInit` has run. A
   * testing module that has been initialized calls the hooks again for its application.
   */
  onModuleInit(): void {
    if (this.#mountError !== undefined) throw this.#mountError;
    if (this.#isRegistered) return;
    const all = this.#findAll();
    checkDistinct(all);
    for (const { place, events } of registerMethods(this.#receiver, this, all, this.#discovery))
      logger.log(`${this.path}: ${events} to ${place}`);
    this.#isRegistered = true;
  }

  /** The handlers are counted only now, because other providers may have called `receiver.on` until now. */
  onApplicationBootstrap(): void {
    try {
      // A provider without a list of types has no filters.
      if (propertyOf(this.#receiver, 'hasHandlers') !== true) this.#receiver.eventFilters();
    } catch (cause) {
      throw new ConfigurationError(
        `the receiver of ${this.path} has no handler, and would answer every event 503: write @OnWebhook on ` +
          'a method of a provider, or call receiver.on in a constructor or in onModuleInit',
        { cause },
      );
    }
    this.#start();
  }

  /** Runs before any other `onModuleDestroy`, because handlers use connections that the others close. */
  async onModuleDestroy(): Promise<void> {
    // If the start has failed, the held deliveries are answered now: 503, closing.
    this.#start();
    await closeInHook(() => this.#receiver.close());
    const queue = this.#queue;
    this.#queue = undefined;
    await closeInHook(() => queue?.close());
  }

  /** All receivers of the application, including this one. */
  #findAll(): readonly Endpoint[] {
    const providers = this.#discovery.getProviders();
    return providers.filter(({ token }) => token === RECEIVER_LIFECYCLE).map(({ instance }) => instance);
  }

  /** Keeps an error for `onModuleInit`: RxJS rethrows it in a timer, where nothing can catch it. */
  #mount(): void {
    const adapter = this.#host.httpAdapter;
    // An application without a server has null here.
    if (!adapter) return;
    try {
      mountOn(adapter, holdUntil(this.#started, this.#receiver, this.#answerMs), this.path);
      if (this.#operator !== undefined) mountOperatorOn(adapter, this.#operator);
    } catch (error) {
      this.#mountError = error;
    }
  }
}
