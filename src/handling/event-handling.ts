import { Letter } from '../dead-letters/letter.ts';
import { type AttemptInfo, type LetterContent, Parking, parkingLimitMs } from '../dead-letters/parking.ts';
import { Completions } from '../dedupe/completions.ts';
import { type TimeLimitedStore, timeLimited } from '../dedupe/time-limited.ts';
import { UnavailableError } from '../errors.ts';
import type { AnyEvent } from '../events/event.ts';
import { type Answer, accept, isSuccess, type Refused, refuse } from '../outcomes/outcome.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import type { Activity } from '../timing/activity.ts';
import type { HandlingSettings, Job } from './job.ts';
import type { KeptMiddleware } from './middleware.ts';
import { Room } from './room.ts';
import type { Route, Router } from './router.ts';
import type { Run } from './run.ts';
import { RunsInFlight } from './runs-in-flight.ts';
import type { Trace } from './trace.ts';

/**
 * What the three ways to the handlers of an event share: a delivery, the replay of a letter, and the job of a
 * queue.
 */
export class EventHandling {
  readonly settings: HandlingSettings;
  readonly router: Router;
  readonly store: TimeLimitedStore;
  readonly parking: Parking | undefined;
  readonly completions: Completions;
  readonly runs: RunsInFlight;

  constructor(
    settings: HandlingSettings,
    router: Router,
    middlewares: readonly KeptMiddleware[],
    activity: Activity,
    bodyMemory: BodyMemory,
  ) {
    this.settings = settings;
    this.router = router;
    const { deadLetters, deadlineMs, now } = settings;
    // Handlers that can run without the store wait for no connection.
    const mayWait = settings.onStoreFailure === 'reject';
    this.store = timeLimited(settings.store, { mayWait });
    const limitMs = parkingLimitMs(deadlineMs);
    this.parking = deadLetters && new Parking(deadLetters, { limitMs, now, mayWait, bodyMemory });
    this.completions = new Completions(this.store, activity);
    const room = Number.isFinite(settings.maxRunning) ? new Room(settings.maxRunning) : undefined;
    const shared = { completions: this.completions, bodyMemory, room, middlewares };
    const services = { settings, store: this.store, parking: this.parking, ...shared };
    this.runs = new RunsInFlight(services, activity);
  }

  /**
   * The handlers of an event. A receiver that is closing, or has none, refuses here rather than before: the
   * event is parsed, so that it can be parked.
   */
  routesFor(event: AnyEvent, trace: Trace): readonly Route[] {
    if (trace.closing) throw new UnavailableError('closing', 'the receiver is closing');
    if (this.router.isEmpty) {
      throw new UnavailableError(
        'no_handlers',
        'no handler is registered: call on() or onUnhandled() before the first delivery',
      );
    }
    return this.router.match(event.type);
  }

  /** Starts the run of an event, or joins the one that is under way. */
  startOrJoin(job: Job, trace: Trace): Run {
    const current = this.runs.find(job.claimId);
    trace.joined = current !== undefined;
    trace.run = current ?? this.runs.start(job);
    return trace.run;
  }

  /** Parks what is refused without a run; without dead letters, or if they fail, it stays refused. */
  async park(
    refused: Refused,
    { rawBody, headers, receivedAt }: Pick<LetterContent, 'rawBody' | 'headers' | 'receivedAt'>,
    trace: Trace,
    attemptInfo: AttemptInfo = { attempts: 0, handled: [] },
  ): Promise<Answer> {
    const { error } = refused;
    const { id: eventId, type } = trace.event ?? {};
    const content = { rawBody, headers, receivedAt, id: eventId, type };
    const { deadline, deadlineMs } = trace;
    const letter = new Letter(this.parking, content, trace.warnings, { deadline, deadlineMs });
    const id = await letter.store(error, attemptInfo, parkBy(trace));
    if (id === undefined) return refused;
    void letter.reconcile(this.store, this.settings);
    return accept('parked', id, error);
  }
}

/** Until when what has failed waits for its letter. */
export function parkBy({ deadline, deadlineMs }: Trace): number {
  return Math.max(deadline, performance.now() + parkingLimitMs(deadlineMs));
}

/** A run's answer as one delivery gets it: for one that joined, a success is a duplicate. */
export function answerTo({ joined }: Trace, answer: Answer): Answer {
  if (!joined) return answer;
  if (answer.outcome === 'processed' || answer.outcome === 'queued') return accept('duplicate', answer.id);
  if (answer.error?.code !== 'deadline_reached' || isSuccess(answer)) return answer;
  return refuse(
    new UnavailableError('event_running', 'another delivery of this event is still being handled'),
  );
}
