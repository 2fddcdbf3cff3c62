import type {
  ClaimRequest,
  ClaimResult,
  CompleteRequest,
  CompleteResult,
  LeaseRequest,
  PeekRequest,
  PeekResult,
  ReleaseRequest,
  ReleaseResult,
  RenewResult,
  Store,
} from '../../../src/receiver/dedupe/store.ts';
import { createMemoryStore } from '../../../src/stores/memory/memory.ts';
import { clock } from '../clock.ts';
import { StoreRecord } from '../store-record.ts';
import { checkBusy, noteClaim, noteCompletion, noteGranted, noteReleased } from './claim-promises.ts';
import { checkKeyEnded, isKeyId } from './key-promises.ts';
import { isRerunId } from './rerun-promises.ts';
import type { SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/** An id in the store. Each has a memory store of its own, so that each can be forgotten. */
class Id {
  readonly memory: Store;
  readonly record: StoreRecord = new StoreRecord();
  /** When it was released last. */
  releasedAt: number = Number.NEGATIVE_INFINITY;

  constructor(isPlain: boolean) {
    const memory = createMemoryStore({ maxEntries: 1 });
    this.memory = isPlain ? asPlain(memory) : memory;
  }
}

/** The store as a user may have written it: a claim is a run, whatever its token, and none is refused. */
function asPlain(memory: Store): Store {
  const asRun = <Request extends CompleteRequest>(request: Request): Request => ({
    ...request,
    token: `run:${request.token}`,
  });
  return {
    claim: (request) => memory.claim(asRun(request)),
    renew: (request) => memory.renew(asRun(request)),
    complete: (request) => memory.complete(asRun(request)),
    release: (request) => memory.release({ ...asRun(request), refuseClaimsMs: 0 }),
  };
}

/** The store that all processes share, with a record of its answers. */
export class WalkStore {
  readonly #world: WalkWorld;
  readonly #ids = new Map<string, Id>();

  constructor(world: WalkWorld) {
    this.#world = world;
  }

  eventOf(id: string): SimulatedEvent | undefined {
    return this.#world.events.find((event) => event.ids.includes(id) || isRerunId(id, event));
  }

  recordOf(id: string): StoreRecord {
    return this.#id(id).record;
  }

  /** The records of an event: of its handling, and of its way into the queue. */
  recordsOf({ ids }: SimulatedEvent): StoreRecord[] {
    return ids.map((id) => this.recordOf(id));
  }

  /** The records of the reruns of an event. */
  rerunsOf(event: SimulatedEvent): StoreRecord[] {
    return this.#rerunIdsOf(event).map((id) => this.recordOf(id));
  }

  #rerunIdsOf(event: SimulatedEvent): string[] {
    return [...this.#ids.keys()].filter((id) => isRerunId(id, event));
  }

  /** The ids of the concurrency keys that the store has met. */
  get keyIds(): string[] {
    return [...this.#ids.keys()].filter(isKeyId);
  }

  /** Until when a process had an id, by the store; now if a process has it. */
  heldUntil(id: string): number {
    const { record, releasedAt } = this.#id(id);
    const { leaseEndsAt, state } = record;
    return state === 'processing' ? Math.min(clock.now, leaseEndsAt) : releasedAt;
  }

  #id(id: string): Id {
    const known = this.#ids.get(id) ?? new Id(this.#world.configuration.store === 'plain');
    this.#ids.set(id, known);
    return known;
  }

  claim(request: ClaimRequest): ClaimResult {
    const { memory, record } = this.#id(request.id);
    const { token: earlier, state } = record;
    const answer = record.claim(memory, request);
    const isOfOther = state === 'processing' && earlier !== request.token;
    if (answer.state === 'busy' && isOfOther) checkBusy(this.#world, request.id, earlier ?? '');
    if (answer.state !== 'claimed') return answer;
    noteGranted(this.#world, request.token);
    if (record.hasCountedHold && this.#world.configuration.store !== 'plain')
      this.#world.promises.break('a claim that is not a run is neither an attempt nor abandoned', request.id);
    if (!isKeyId(request.id)) noteClaim(this.#world, request.token, record.abandoned);
    // The store does not remember a key for longer than its lease, so it counts no abandoned claim.
    else if (isOfOther) checkKeyEnded(this.#world, request.id, earlier);
    return answer;
  }

  renew(request: LeaseRequest): RenewResult {
    const { memory, record } = this.#id(request.id);
    return record.renew(memory, request);
  }

  complete(request: CompleteRequest): CompleteResult {
    const { memory, record } = this.#id(request.id);
    noteCompletion(this.#world, request);
    return record.complete(memory, request);
  }

  release(request: ReleaseRequest): ReleaseResult {
    const known = this.#id(request.id);
    const answer = known.record.release(known.memory, request);
    if (answer.state !== 'released') return answer;
    known.releasedAt = clock.now;
    noteReleased(this.#world, request);
    return answer;
  }

  peek(request: PeekRequest): PeekResult {
    const { memory, record } = this.#id(request.id);
    return record.peek(memory, request);
  }

  /** Loses all that it knows of a concurrency key. */
  forgetKey(id: string): void {
    this.#ids.delete(id);
    this.#world.forgottenKeys.add(id);
  }

  /** Loses all that it knows of an event. */
  forget(event: SimulatedEvent): void {
    const ids = [...event.ids, ...this.#rerunIdsOf(event)];
    for (const id of ids) this.#ids.delete(id);
    event.rerunsDone.clear();
    event.forgottenAt = clock.now;
    event.completedAt = undefined;
    event.recorded.clear();
    for (const process of this.#world.processes) for (const id of ids) process.completed.delete(id);
    event.faults.add('forgetting');
  }
}
