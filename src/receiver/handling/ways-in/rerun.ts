import type { OnTaken } from '../../dedupe/lease.ts';
import { UnavailableError } from '../../errors.ts';
import { accept, type Outcome, refuse } from '../../outcomes/outcome.ts';
import type { Report } from '../../outcomes/report.ts';
import type { Run } from '../run/run.ts';
import { type Answered, foundRecordsOnly } from './answered.ts';
import type { Arrival } from './arrival.ts';
import { type HeldId, holdId } from './hold-id.ts';
import type { ReceiverServices } from './receiver-services.ts';
import type { RerunInput } from './rerun-input.ts';

/**
 * Runs one handler of a handled event once more, and waits for its end. Whatever the end, what the store, the
 * dead letters and the journal have of the event stays as it is.
 */
export async function rerun(
  services: ReceiverServices,
  input: RerunInput,
  arrival: Arrival,
): Promise<Answered> {
  const event = input.identity;
  try {
    arrival.checkNotClosing();
    if (await isDone(services, input)) return { event, answer: accept('duplicate', event.id) };
    return { event, ...(await runAlone(services, input, arrival)) };
  } catch (error) {
    return { event, answer: refuse(error) };
  }
}

/** Resolves with true if the store says that the handler has done this run. A store without `peek` cannot. */
export async function isDone(
  { completions, store }: Pick<ReceiverServices, 'completions' | 'store'>,
  { claimId }: Pick<RerunInput, 'claimId'>,
): Promise<boolean> {
  return completions.has(claimId) || (await store.lookUp({ id: claimId }))?.state === 'completed';
}

/**
 * Runs the handler. Meanwhile holds the event, if it is not completed, so that no delivery begins to run it,
 * and the turn of the handler, so that no other rerun does.
 */
async function runAlone(
  services: ReceiverServices,
  { toHold, ...input }: RerunInput,
  { deadline, receivedAt, warnings }: Arrival,
): Promise<Answered> {
  const { completions, runs, settings } = services;
  const held: HeldId[] = [];
  let run: Run | undefined;
  const onTaken: OnTaken = (state) => {
    // `completed` is not a loss: another process has handled the event, and no delivery can begin to run it.
    if (state === 'lost') run?.abortTaken(state);
  };
  try {
    for (const { busyWith, claimed } of toHold) {
      const found = await holdId(services, claimed, warnings, onTaken);
      if (found.state === 'busy') throw running(busyWith);
      if (found.state === 'claimed') held.push(found);
    }
    // A store that was emptied has forgotten its turn.
    if (runs.find(input.claimId) !== undefined) throw running('the same rerun');
    const deadlineAt = receivedAt + settings.maxRunMs;
    const heldLeases = held.map(({ lease }) => lease);
    // Another rerun of this process may have ended meanwhile, and the store may not know it yet.
    if (!completions.has(input.claimId)) run = runs.start({ ...input, deadline, deadlineAt, heldLeases });
  } finally {
    if (run === undefined) await releaseAll(held);
  }
  const { id } = input.identity;
  if (run === undefined) return { answer: accept('duplicate', id) };
  const released = run.answer.settled().then(() => releaseAll(held));
  // The receiver waits for it when it closes.
  run.keyReleases.push(released);
  const answer = await run.answer.settled();
  await released;
  // The inbox remembers a rerun that the store has forgotten.
  const wasDone = answer.outcome === 'processed' && foundRecordsOnly(run);
  return { answer: wasDone ? accept('duplicate', id) : answer, followed: { run, joined: false } };
}

async function releaseAll(held: readonly HeldId[]): Promise<void> {
  for (const { claim, lease } of held) {
    lease.stop();
    await claim.release([]);
  }
}

function running(other: string): UnavailableError {
  return new UnavailableError('event_running', `${other} is being handled`);
}

/** The outcomes of a rerun, the one first that counts for the call if its handlers have several. */
const OUTCOMES: readonly Outcome[] = ['failed', 'busy', 'processed', 'duplicate'];

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
