import { rerunId, rerunTurnId } from '../../src/receiver/dedupe/claim-id.ts';
import type { Rerun } from '../../src/receiver/outcomes/report.ts';
import { clock } from './clock.ts';
import { EVENT, HANDLER } from './event.ts';
import type { PromiseText } from './promise-texts.ts';
import type { ProcessName } from './scope.ts';
import type { StoreRecord } from './store-record.ts';
import type { World } from './world.ts';

/** Watches the reruns of a world. */
export class RerunPromises {
  /** The names of the runs that were reported as processed, or as processed and not recorded by a process. */
  readonly #reported = new Set<string>();
  readonly #world: World;
  readonly #break: (promise: PromiseText) => void;

  constructor(world: World, onBroken: (promise: PromiseText) => void) {
    this.#world = world;
    this.#break = onBroken;
  }

  /** Everything that a later check depends on. */
  get facts(): readonly unknown[] {
    return [...this.#reported].sort();
  }

  /** The records of the ids that a rerun claims. An event that is completed need not be claimed. */
  recordsOf({ run }: Rerun): readonly [StoreRecord, ...StoreRecord[]] {
    const { record } = this.#world;
    const ofRun = this.#world.recordOf(rerunId(HANDLER, run, EVENT.id));
    return record.state === 'completed' ? [ofRun, this.#turn] : [ofRun, this.#turn, record];
  }

  /** Returns true for the id of a run: claims of any other id are not runs. */
  isRun(id: string): boolean {
    return this.#world.scope.reruns.some((run) => id === rerunId(HANDLER, run, EVENT.id));
  }

  get #turn(): StoreRecord {
    return this.#world.recordOf(rerunTurnId(HANDLER, EVENT.id));
  }

  /** The handler begins in a rerun. `running` are the claims of the handlers that run. */
  noteBegin(process: ProcessName, { run }: Rerun, running: readonly string[]): void {
    const { leaseEndsAt, token = '' } = this.#turn;
    const isOwn = this.#world.tokens.get(token) === process && leaseEndsAt > clock.now;
    if (!isOwn || running.includes(token))
      this.#break('a rerun begins only while it alone has the turn of its handler');
    if (this.#reported.has(run) || this.#reported.has(unrecorded(run, process)))
      this.#break('no rerun runs again after it was reported as processed');
  }

  /** Until a completion is recorded, only its process knows of it. */
  noteSuccess(process: ProcessName, run: string, warnings: readonly string[]): void {
    const isPending = warnings.some((warning) => warning.startsWith('completion_pending'));
    this.#reported.add(isPending ? unrecorded(run, process) : run);
  }

  /** A delivery is answered. Without an answer of the store it may be refused, or parked. */
  noteDelivery(body: string): void {
    const { faults, scope } = this.#world;
    const isExcused = faults.has('lost reply') || faults.has('standstill');
    if (scope.isHandled && !isExcused && !body.includes('duplicate'))
      this.#break('a delivery of a handled event is a duplicate, also during a rerun');
  }

  /** A process changes the letter. */
  noteLetterChange(name: ProcessName): void {
    const { calls, deliveries } = this.#world;
    const isOfRerun =
      calls.some((call) => call.process.name === name) &&
      calls.every((call) => call.name === 'rerun' || call.process.name !== name) &&
      deliveries.every(({ process }) => process.name !== name);
    if (isOfRerun) this.#break('a rerun leaves the letter of its event as it is');
  }
}

function unrecorded(run: string, process: ProcessName): string {
  return `${run}, not recorded by ${process}`;
}
