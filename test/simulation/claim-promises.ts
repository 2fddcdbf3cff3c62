import { clock } from './clock.ts';
import type { PromiseText } from './promise-texts.ts';
import { times } from './scope.ts';
import type { StoreRecord } from './store-record.ts';
import type { World } from './world.ts';

/** Watches how claims are counted and given back. */
export class ClaimPromises {
  /** An operation of a claim that was granted got no answer: its lease may run out. */
  mayLeaseRunOut = false;
  /** A claim came later than a store refuses it, and was granted. */
  #isPastLimit = false;
  /** Until when the claims of each token are refused that was given back. */
  readonly #refusals: Map<string, number> = new Map();
  /** The tokens of claims that are not runs: of a drop or a rerun that has begun before any run. */
  readonly #ofNoRun = new Set<string>();
  readonly #world: World;
  readonly #break: (promise: PromiseText) => void;

  constructor(world: World, onBroken: (promise: PromiseText) => void) {
    this.#world = world;
    this.#break = onBroken;
  }

  /** Everything that a later check depends on. */
  get facts(): readonly unknown[] {
    return [this.mayLeaseRunOut, this.#isPastLimit];
  }

  /** Until when the claims of a token are refused; now if that is over, and undefined if they are not. */
  refusedUntil(token = ''): number | undefined {
    const until = this.#refusals.get(token);
    return until === undefined ? undefined : Math.max(clock.now, until);
  }

  /** The store is asked to give a claim back. */
  noteRelease(token: string): void {
    this.#refusals.set(token, clock.now + times.leaseMs);
  }

  /** A claim is sent with a new token. */
  noteToken(id: string, token: string): void {
    const { calls, deliveries, promises } = this.#world;
    const hasNoRun =
      deliveries.length === 0 && calls.every(({ name }) => name === 'drop' || name === 'rerun');
    if (hasNoRun && !promises.reruns.isRun(id)) this.#ofNoRun.add(token);
  }

  /** The store has granted a claim, and counts the claim before it. */
  noteGranted({ abandoned = '', hasCountedHold }: StoreRecord, token: string): void {
    this.#isPastLimit ||= this.refusedUntil(token) === clock.now;
    if (hasCountedHold || this.#ofNoRun.has(abandoned))
      this.#break('a claim that is not a run is neither an attempt nor abandoned');
    if (this.refusedUntil(abandoned) !== undefined) this.noteLeft();
  }

  /** A claim is left in the store until its lease has run out. */
  noteLeft(): void {
    const { faults } = this.#world;
    const isExcused =
      faults.has('crash') || faults.has('standstill') || this.mayLeaseRunOut || this.#isPastLimit;
    if (!isExcused) this.#break('a claim is given back by its process');
  }

  /** A claim that comes late may take the id only once it is not refused any more. */
  noteBusy(record: StoreRecord, token: string): void {
    const isOfOther = record.state === 'processing' && record.token !== token;
    if (isOfOther && this.refusedUntil(record.token) !== undefined && !this.#isPastLimit)
      this.#break('nobody is shut out by a claim that was given back');
  }
}
