import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { ConfigurationError } from '../receiver/errors.ts';
import { propertyOf, show } from '../receiver/values/foreign-values.ts';
import { closeInHook } from './close-in-hook.ts';
import { closeFirst } from './hook-order.ts';
import type { QueueWorker } from './options.ts';
import { WORKER_LIFECYCLE } from './tokens.ts';

/** Starts a worker once all handlers are registered, and closes it before its receiver. */
export class WorkerLifecycle implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #start: () => QueueWorker | Promise<QueueWorker>;
  #worker: Promise<QueueWorker> | undefined;
  #closed = false;

  constructor(start: () => QueueWorker | Promise<QueueWorker>, discovery: DiscoveryService) {
    this.#start = start;
    closeFirst(discovery, WORKER_LIFECYCLE, -2);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.#closed) return;
    this.#worker ??= this.#startChecked();
    await this.#worker;
  }

  async #startChecked(): Promise<QueueWorker> {
    const worker = await this.#start();
    if (typeof propertyOf(worker, 'close') === 'function') return worker;
    throw new ConfigurationError(
      `useFactory of PosthornModule.forWorker must return a worker with close(), got ${show(worker)}`,
    );
  }

  async onModuleDestroy(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#worker = undefined;
    await closeInHook(async () => (await worker)?.close());
  }
}
