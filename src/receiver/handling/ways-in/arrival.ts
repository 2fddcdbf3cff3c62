import { UnavailableError } from '../../errors.ts';
import type { ReportSource, Rerun, Warning } from '../../outcomes/report.ts';
import type { CheckedProvider } from '../../provider/checked-provider.ts';
import type { Settings } from '../../settings.ts';
import { Deadline } from '../../timing/deadline.ts';

/** The members of a report by which a caller named its call. */
export interface ArrivalNames {
  readonly acceptedFrom?: string | undefined;
  readonly rerun?: Rerun | undefined;
}

/**
 * The beginning of a delivery, a replay, a job, an accepted event or a rerun. {@link Answered} has its end.
 */
export class Arrival {
  readonly receiver: string | undefined;
  readonly provider: CheckedProvider;
  /** The `source` of the report. Only a delivery has a sender that waits. */
  readonly source: ReportSource;
  readonly names: ArrivalNames;
  readonly receivedAt: number;
  readonly deadline: Deadline;
  /** The problems outside its run, for its report. */
  readonly warnings: Warning[] = [];
  readonly #isClosing: boolean;

  /** `isClosing` is true if the receiver is closing. */
  constructor(
    { name, now, deadlineMs, provider }: Pick<Settings, 'name' | 'now' | 'deadlineMs' | 'provider'>,
    source: ReportSource,
    isClosing: boolean,
    names: ArrivalNames = {},
  ) {
    this.receiver = name;
    this.provider = provider;
    this.source = source;
    this.names = names;
    this.receivedAt = now();
    this.deadline = new Deadline(deadlineMs);
    this.#isClosing = isClosing;
  }

  /** Throws if the receiver is closing. Call it once the event is known, so that the event can be parked. */
  checkNotClosing(): void {
    if (this.#isClosing) throw new UnavailableError('closing', 'the receiver is closing');
  }
}
