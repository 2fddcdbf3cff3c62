import type { OnTaken } from '../../dedupe/lease.ts';
import { UnavailableError } from '../../errors.ts';
import type { JournalEntry } from '../../journal/journal.ts';
import { accept, type Outcome, refuse } from '../../outcomes/outcome.ts';
import type { Report } from '../../outcomes/report.ts';
import { isReadFailure } from '../../provider/read-failure.ts';
import type { Run } from '../run/run.ts';
import { type Answered, foundRecordsOnly } from './answered.ts';
import type { Arrival } from './arrival.ts';
import { type HeldId, holdId } from './hold-id.ts';
import type { ReceiverServices } from './receiver-services.ts';
import { type RerunInput, readRerun } from './rerun-input.ts';
import type { CheckedRerunOptions } from './rerun-options.ts';

/**
 * Runs one handler of a handled event once more, and waits for its end. Whatever the end, what the store, the
 * dead letters and the journal have of the event stays as it is.
 */
export async function rerun(
  services: ReceiverServices,
  entry: JournalEntry,
  handler: string,
  options: CheckedRerunOptions,
  arrival: Arrival,
): Promise<Answered> {
  const { account, id, type } = entry;
  try {
    const input = readRerun(services, entry, handler, options);
    arrival.checkNotClosing();
    return { event: input.identity, ...(await runAlone(services, input, arrival)) };
  } catch (error) {
    return { event: { account, id, type }, answer: refuse(isReadFailure(error) ? error.cause : error) };
  }
}

/**
 * Runs the handler. Meanwhile holds the event, if it is not completed, so that no delivery begins to run it,
 * and the turn of the handler, so that no other rerun does.
 */
async function runAlone(
  services: ReceiverServices,
  { toHold, ...input }: RerunInput,
  { deadline, warnings }: Arrival,
): Promise<Answered> {
  const { createdAtMs, id } = input.identity;
  const held: HeldId[] = [];
  let run: Run | undefined;
  const onTaken: OnTaken = (state) => {
    // Its id is held only while nobody has handled the event, so its completion by others takes nothing.
    if (state === 'lost') run?.abortTaken(state);
  };
  try {
    for (const { busyWith, claimId } of toHold) {
      const found = await holdId(services, { claimId, createdAtMs }, warnings, onTaken);
      if (found.state === 'busy') throw new UnavailableError('event_running', busyWith);
      if (found.state === 'claimed') held.push(found);
    }
    // The store may not know yet of a rerun that this process has ended.
    if (services.completions.has(input.claimId)) return { answer: accept('duplicate', id) };
    run = services.runs.start({ ...input, deadline, alsoHeld: held.map(({ lease }) => lease) });
    const answer = await run.answer.settled();
    // The inbox remembers a rerun that the store has forgotten.
    const wasDone = answer.outcome === 'processed' && foundRecordsOnly(run);
    return { answer: wasDone ? accept('duplicate', id) : answer, followed: { run, joined: false } };
  } finally {
    for (const { claim, lease } of held) {
      lease.stop();
      await claim.release([]);
    }
  }
}

/** The outcomes of a rerun, the one first that counts for the call if its handlers have several. */
const OUTCOMES: readonly Outcome[] = ['rejected', 'failed', 'busy', 'processed', 'duplicate'];

/** Joins the reports of several handlers. */
export function joinReports([first, ...others]: readonly [Report, ...Report[]]): Report {
  const all = [first, ...others];
  const [decisive = first] = OUTCOMES.flatMap((outcome) => all.filter((one) => one.outcome === outcome));
  return {
    ...decisive,
    durationMs: all.reduce((sum, { durationMs }) => sum + durationMs, 0),
    warnings: [...new Set(all.flatMap(({ warnings }) => warnings))],
    handlers: all.flatMap(({ handlers }) => handlers),
  };
}
