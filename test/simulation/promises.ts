import type { DeadLetter } from '../../src/receiver/dead-letters/dead-letters.ts';
import type {
  ClaimRequest,
  ClaimResult,
  CompleteRequest,
  RenewResult,
} from '../../src/receiver/dedupe/store.ts';
import type { HandlerContext } from '../../src/receiver/handling/handlers/route.ts';
import { ClaimPromises } from './claim-promises.ts';
import { clock } from './clock.ts';
import { LetterWriters } from './letter-writers.ts';
import type { Operation } from './operations.ts';
import type { SimulatedProcess } from './process.ts';
import type { PromiseText } from './promise-texts.ts';
import { RerunPromises } from './rerun-promises.ts';
import { type ProcessName, times } from './scope.ts';
import type { StoreRecord } from './store-record.ts';
import type { World } from './world.ts';

/** Watches the world, and notes the first promise that it breaks. */
export class Promises {
  broken: PromiseText | undefined;
  /** Handlers have succeeded. */
  isHandled = false;
  /** The event was given up. */
  isDropped = false;
  readonly letterWriters: LetterWriters = new LetterWriters();
  readonly claims: ClaimPromises;
  readonly reruns: RerunPromises;
  /** Tokens that were given the id although the completion was recorded. */
  readonly #late = new Set<string>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.claims = new ClaimPromises(world, (promise) => this.break(promise));
    this.reruns = new RerunPromises(world, (promise) => this.break(promise));
  }

  /** Everything that a later check depends on. */
  get facts(): readonly unknown[] {
    const leases = this.#running().map((token) => Math.max(clock.now, this.#world.leaseOf(token)));
    return [
      this.isHandled,
      this.isDropped,
      this.isRecorded,
      this.#late,
      leases,
      this.claims.facts,
      this.letterWriters.facts,
      this.reruns.facts,
    ];
  }

  /** The store has recorded a completion of the event. */
  get isRecorded(): boolean {
    return this.#world.record.wasCompleted;
  }

  break(promise: PromiseText): void {
    this.broken ??= promise;
  }

  noteClaim<Answer extends ClaimResult | RenewResult>({ id, token }: ClaimRequest, answer: Answer): Answer {
    const { state } = answer;
    const record = this.#world.recordOf(id);
    const isAbandoned = 'abandoned' in answer && answer.abandoned > 0;
    if (isAbandoned && this.#world.faults.size === 0) this.break('without a fault no lease runs out');
    if (record.wasCompleted && (state === 'claimed' || state === 'held')) this.#late.add(token);
    if (state === 'claimed') this.claims.noteGranted(record, token);
    if (state === 'busy') this.claims.noteBusy(record, token);
    return answer;
  }

  noteCompletion({ token }: CompleteRequest, sentAt: number): void {
    if (token !== 'dropped') return;
    this.isDropped = true;
    const { record } = this.#world;
    const isHeld = this.#running().some((holder) => record.leaseOf(holder) > clock.now);
    // The claim of a drop is confirmed before its completion is sent, which must not arrive too late.
    const isLate = clock.now - sentAt >= times.commandTimeoutMs;
    if (isHeld && !isLate) this.break('no event is dropped while a run has a lease that holds');
  }

  /** The tokens of the runs whose handlers run. */
  #running(): string[] {
    return this.#world.processes.flatMap(({ pending }) =>
      pending.flatMap((operation) => (operation.kind === 'handlers' ? claimsOf(operation) : [])),
    );
  }

  /** The handlers of a process begin. Returns the tokens of the claims that they need. */
  noteBegin(process: ProcessName, context: HandlerContext): string[] {
    const { faults, record } = this.#world;
    const { rerun } = context;
    const records = rerun === undefined ? [record] : this.reruns.recordsOf(rerun);
    if (rerun !== undefined) this.reruns.noteBegin(process, rerun, this.#running());
    for (const needed of records) this.#checkClaim(process, needed);
    if (faults.size === 0 && this.#mayRunBeside(process))
      this.break('without a fault one run at a time has its handlers running, until maxRunMs');
    if (rerun === undefined) this.#checkLetter(process, context);
    return records.flatMap(({ token }) => token ?? []);
  }

  /** Handlers begin on the claim of an id. */
  #checkClaim(process: ProcessName, record: StoreRecord): void {
    const { token = '' } = record;
    const isOwn = this.#world.tokens.get(token) === process && record.leaseEndsAt > clock.now;
    if (record.state !== 'completed' && !isOwn) this.break('handlers begin only on a lease that holds');
    const others = this.#running().filter((other) => other !== token);
    if (others.some((other) => record.leaseOf(other) > clock.now))
      this.break('handlers begin only while no other run has a lease that holds');
    if (this.#late.has(token)) this.break('no handlers begin after the completion is known');
  }

  #checkLetter(process: ProcessName, { deadlineAt, final, receivedAt }: HandlerContext): void {
    const { faults, letters, record } = this.#world;
    // The caller of an accept knows of a crash: its letter must be there only if an earlier run did not end.
    const isAccept = deadlineAt - receivedAt === times.maxRunMs && this.#onlyAccepts(process);
    const mustStore = final && (!isAccept || (record.claimed?.abandoned ?? 0) > 0);
    if (mustStore && letters.size === 0 && !this.isHandled && !faults.has('letter'))
      this.break('the letter of a last attempt is stored before its handlers run');
    if (isAccept && this.letterWriters.hasDied && !faults.has('letter'))
      this.break('no accept runs an event whose letter says that a process died with it');
  }

  /** Returns true if accepts are under way in the process, and no replay, whose deadline may be the same. */
  #onlyAccepts(name: ProcessName): boolean {
    const { calls } = this.#world;
    const underWay = calls.filter(({ isOver, process }) => !isOver && process.name === name);
    return underWay.length > 0 && underWay.every((call) => call.name === 'accept');
  }

  /** Whether the handlers of another run may still be heard. */
  #mayRunBeside(process: ProcessName): boolean {
    const others = this.#world.processes.filter(({ name }) => name !== process);
    const from = clock.now - times.maxRunMs;
    return others.some(({ pending }) =>
      pending.some(({ kind, sentAt }) => kind === 'handlers' && sentAt > from),
    );
  }

  /** The service is answered that it need not send the event again, or a caller that an accept succeeded. */
  noteAccepted(): void {
    const isKept = this.isHandled || this.isDropped || this.#world.letters.size > 0;
    if (!isKept) this.break('no 2xx before the event is handled or parked');
  }

  /** A delivery, a replay or an accept has failed, perhaps because a store or a letter gave no answer. */
  noteFailed({ isTold }: SimulatedProcess): void {
    const { faults } = this.#world;
    if (isTold && !faults.has('lost reply') && !faults.has('letter'))
      this.break('no delivery, replay or accept fails after a release was told of the completion');
  }

  /** An accept has failed, because handlers did. */
  noteNotParked(): void {
    if (!this.#world.faults.has('letter')) this.break('an accept whose handlers fail is parked');
  }

  /** A delivery was refused, because its event is running. A fourth of its time is for the letter. */
  noteBusy(sentAt: number): void {
    if (clock.now < sentAt + 0.75 * times.deadlineMs)
      this.break('no delivery is refused before its deadline because its event is running');
  }

  /** A renewal is sent. Handlers that are aborted have the time of a lease for their letter. */
  noteRenewal(token: string): void {
    const { faults, processes } = this.#world;
    if (faults.has('standstill')) return;
    const begunBy = clock.now - times.maxRunMs - times.leaseMs;
    const isTooLate = processes.some(({ pending }) =>
      pending.some((one) => one.kind === 'handlers' && claimsOf(one).includes(token) && one.sentAt < begunBy),
    );
    if (isTooLate) this.break('no lease is renewed for handlers that should have ended long ago');
  }

  notePut(process: ProcessName, letter: DeadLetter): void {
    this.letterWriters.notePut(process, letter);
    this.reruns.noteLetterChange(process);
  }

  noteRemoval(process: ProcessName): void {
    this.reruns.noteLetterChange(process);
    this.letterWriters.noteRemoval();
    const isOver = this.isHandled || this.isDropped || this.isRecorded;
    if (!isOver) this.break('no letter is removed before its event is handled or dropped');
  }

  /** The event was recorded, and its letter was replayed. */
  noteLastReplay(outcome: string): void {
    const isRemoved = this.#world.letters.size === 0;
    if (outcome !== 'duplicate' || !isRemoved)
      this.break('the replay of an event that was handled is a duplicate, and removes the letter');
  }

  /** Checked after each action. */
  check(): void {
    const running = this.#running();
    const isTaken = [...this.#world.records.values()].some(
      (record) =>
        record.state !== 'completed' &&
        running.some(
          (token) =>
            record.leaseOf(token) > clock.now && !(record.state === 'processing' && record.token === token),
        ),
    );
    if (isTaken) this.break('nobody takes an id from a run whose lease holds');
  }

  /** Checked when nothing happens any more, unless a fault does, or somebody chooses to. */
  checkAtRest(): void {
    const { calls, deliveries, faults, letters, processes, record, records } = this.#world;
    for (const process of processes)
      if (process.state === 'running' && !faults.has('letter') && !process.hasGivenAllBack)
        this.break('no permit, timer, body or listener is left when nothing happens any more');
    if (calls.some(({ isOver }) => !isOver)) this.break('every replay, drop, accept and rerun ends');
    if (deliveries.some(({ state }) => state === 'waiting')) this.break('every delivery is answered');
    if ([...records.values()].some(({ state }) => state === 'processing')) this.claims.noteLeft();
    const isRefused = deliveries.some(({ isLast, state }) => isLast && state === 'refused');
    if (isRefused && !faults.has('letter'))
      this.break('the last delivery is not refused while letters can be stored');
    // A standstill delays the removal of a letter, and does not prevent it.
    if (faults.has('crash') || faults.has('lost reply') || faults.has('letter')) return;
    if (this.isHandled && record.state !== 'completed') this.break('an event that was handled is recorded');
    if (record.state === 'completed' && letters.size > 0)
      this.break('no letter is left of an event that was handled');
    const isKept = this.isHandled || this.isDropped || letters.size > 0;
    if (!isKept && deliveries.some(({ isLast }) => isLast))
      this.break('an event that is not handled is parked');
  }
}

/** The tokens of the claims that handlers need. */
function claimsOf({ alsoNeeds, token }: Operation): string[] {
  return token === undefined ? [] : [token, ...alsoNeeds];
}
