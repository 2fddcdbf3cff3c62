import type { SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/** A promise that was broken. */
export interface Broken {
  readonly promise: string;
  readonly where: string;
}

/**
 * Notes the first promise that a world breaks. The promises stand in the files `*-promises.ts`, each with all
 * that suspends it.
 */
export class WalkPromises {
  broken: Broken | undefined;
  readonly #world: WalkWorld;

  constructor(world: WalkWorld) {
    this.#world = world;
  }

  break(promise: string, where: string): void {
    this.broken ??= { promise, where };
  }

  /** All handlers of the event have succeeded, if not at once. */
  isHandled({ succeeded }: SimulatedEvent): boolean {
    return succeeded.size === this.#world.configuration.handlers.length;
  }

  /**
   * The event may have runs without a claim: under `onStoreFailure: 'process'`, once the store has failed.
   */
  mayBeUnclaimed({ faults }: SimulatedEvent): boolean {
    return this.#world.configuration.onStoreFailure === 'process' && faults.has('store');
  }
}
