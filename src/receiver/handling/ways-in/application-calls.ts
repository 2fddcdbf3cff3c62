import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import type { JournalEntry } from '../../journal/journal.ts';
import { refuse } from '../../outcomes/outcome.ts';
import type { Report, ReportSource } from '../../outcomes/report.ts';
import type { RawBody } from '../../request/raw-body.ts';
import type { Activity } from '../../timing/activity.ts';
import { accept } from './accept.ts';
import { type AcceptOptions, readAcceptOptions } from './accept-options.ts';
import type { Answered } from './answered.ts';
import type { Arrival, ArrivalNames } from './arrival.ts';
import type { DeliveryReports } from './delivery-reports.ts';
import { dispatch } from './dispatch.ts';
import { type DispatchOptions, readDispatchOptions } from './dispatch-options.ts';
import { drop } from './drop.ts';
import { toBody } from './fetched-event.ts';
import { type Foreseen, foresee } from './foresee.ts';
import { type ForeseenRerun, foreseeRerun } from './foresee-rerun.ts';
import type { ReceiverServices } from './receiver-services.ts';
import { replay } from './replay.ts';
import { joinReports, rerun } from './rerun.ts';
import { checkEntry, type RerunInput, readReruns, refuseEntry } from './rerun-input.ts';
import { type RerunOptions, readRerunOptions } from './rerun-options.ts';

/** The parts of a receiver that {@link ApplicationCalls} needs. */
interface CallParts {
  readonly services: ReceiverServices;
  readonly reports: DeliveryReports;
  readonly activity: Activity;
  /** Begins a call, which ends by `activity.end`. */
  readonly begin: (source: ReportSource, names?: ArrivalNames) => Arrival;
}

/**
 * The ways in that the application calls itself, and for which no sender waits: a replay, a job, a fetched
 * event, a rerun, and the drop of a dead letter.
 */
export class ApplicationCalls {
  readonly #parts: CallParts;
  readonly #services: ReceiverServices;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#services = parts.services;
  }

  async dispatch(job: unknown, options: DispatchOptions): Promise<Report> {
    const checked = readDispatchOptions(options);
    return this.#report('job', (arrival) => dispatch(this.#services, job, checked, arrival));
  }

  replay(letter: DeadLetter): Promise<Report> {
    return this.#report('replay', (arrival) => replay(this.#services, letter, arrival));
  }

  async accept(event: RawBody | object, options: AcceptOptions): Promise<Report> {
    const checked = readAcceptOptions(options, this.#services.settings);
    const body = toBody(event);
    const handle = (arrival: Arrival): Promise<Answered> => accept(this.#services, body, checked, arrival);
    return this.#report('accept', handle, { acceptedFrom: checked.source });
  }

  async foresee(event: RawBody | object, options: AcceptOptions): Promise<Foreseen> {
    return foresee(this.#services, toBody(event), readAcceptOptions(options, this.#services.settings));
  }

  /** Each handler has a run and a report of its own, because each has an id of its own in the store. */
  async rerun(entry: JournalEntry, options: RerunOptions): Promise<Report> {
    const checked = readRerunOptions(options, this.#services.router.names);
    checkEntry(entry);
    const names = { rerun: checked.rerun };
    let inputs: ReturnType<typeof readReruns>;
    try {
      inputs = readReruns(this.#services, entry, checked);
    } catch (error) {
      return this.#report('rerun', async () => refuseEntry(entry, error), names);
    }
    const [first, ...others] = inputs;
    const run = (input: RerunInput): Promise<Report> =>
      this.#report('rerun', (arrival) => rerun(this.#services, input, arrival), names);
    const reports: [Report, ...Report[]] = [await run(first)];
    for (const input of others) reports.push(await run(input));
    return joinReports(reports);
  }

  /** Throws {@link ConfigurationError} for wrong options, and for a name that no handler has. */
  checkRerun(options: RerunOptions): void {
    readRerunOptions(options, this.#services.router.names);
  }

  async foreseeRerun(entry: JournalEntry, options: RerunOptions): Promise<ForeseenRerun> {
    const checked = readRerunOptions(options, this.#services.router.names);
    checkEntry(entry);
    return foreseeRerun(this.#services, entry, checked);
  }

  async drop(letter: DeadLetter): Promise<boolean> {
    const { activity } = this.#parts;
    activity.begin();
    try {
      return await drop(this.#services, letter);
    } finally {
      activity.end();
    }
  }

  async #report(
    source: ReportSource,
    handle: (arrival: Arrival) => Promise<Answered>,
    names?: ArrivalNames,
  ): Promise<Report> {
    const { activity, begin, reports } = this.#parts;
    const arrival = begin(source, names);
    try {
      const answered: Answered = await handle(arrival).catch((error) => ({ answer: refuse(error) }));
      const report = reports.report(arrival, answered, { answerSent: false });
      await answered.followed?.run.keysReleased();
      return report;
    } finally {
      activity.end();
    }
  }
}
