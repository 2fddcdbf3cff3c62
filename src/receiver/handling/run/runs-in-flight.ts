import { AbortedError, UnavailableError } from '../../errors.ts';
import type { Activity } from '../../timing/activity.ts';
import { mayHaveVanished } from '../../timing/isolated-requests.ts';
import { TransientMap } from '../../timing/transient-map.ts';
import { handleEvent } from './handle-event.ts';
import { Run } from './run.ts';
import type { RunInput } from './run-input.ts';
import type { RunServices } from './run-services.ts';
import { rulesOf } from './run-state.ts';

/**
 * The run that a delivery or a call of the application waits for. `joined` is true if another one started
 * it.
 */
export interface FollowedRun {
  readonly run: Run;
  readonly joined: boolean;
}

/**
 * The runs of this process, one at a time for each claimed id. A concurrent duplicate joins the running one.
 */
export class RunsInFlight {
  readonly #services: RunServices;
  readonly #activity: Activity;
  #closed = false;
  /** The runs, by their ids in the store. */
  readonly #runs = new TransientMap<string, Run>();
  readonly #onEnd = (run: Run): void => {
    const { claimId } = run.input;
    if (this.#runs.get(claimId) === run) this.#runs.delete(claimId);
    this.#activity.end();
  };

  constructor(services: RunServices, activity: Activity) {
    this.#services = services;
    this.#activity = activity;
  }

  /** The number of events that this process is handling. */
  get count(): number {
    return this.#runs.size;
  }

  /**
   * Returns the run of an event, if one is under way. A run that Cloudflare Workers may have ended does not
   * count: the store knows whether its claim still holds.
   */
  find(claimId: string): Run | undefined {
    const run = this.#runs.get(claimId);
    return run !== undefined && mayHaveVanished(run.isOverdue) ? undefined : run;
  }

  /** Starts the run of an event, or joins the one that is under way. */
  startOrJoin(input: RunInput): FollowedRun {
    const current = this.find(input.claimId);
    return { run: current ?? this.start(input), joined: current !== undefined };
  }

  /** Starts the run of an event that has none. */
  start(input: RunInput): Run {
    if (this.#closed) throw new UnavailableError('closing', 'the receiver has closed');
    const run = new Run(input, this.#services);
    this.#activity.begin();
    this.#runs.set(input.claimId, run);
    void handleEvent(run, this.#onEnd);
    return run;
  }

  /**
   * Aborts all runs. Resolves with the ids of the events whose handlers had not ended, once they are released
   * in the store. Waits until handlers that end soon have given back their keys.
   */
  async abandon(): Promise<string[]> {
    this.#closed = true;
    const open = [...this.#runs.values()];
    const abandoned = open.filter(({ state }) => rulesOf(state).isRunning);
    const reason = new AbortedError('run_closed', 'the receiver closed before the handlers had ended');
    for (const run of open) run.interruption.end(reason);
    await Promise.all(open.map((run) => run.answer.settled()));
    await Promise.all(open.map((run) => run.keysReleased()));
    return abandoned.map(({ input }) => input.identity.id);
  }
}
