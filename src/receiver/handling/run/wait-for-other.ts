import type { Busy, ClaimReply } from '../../dedupe/claim.ts';
import { pollPauseMs } from '../../dedupe/poll.ts';
import { clearTimeout, performance, setTimeout } from '../../timing/process-clock.ts';
import type { Run } from './run.ts';

/**
 * Waits for the process that has the event: claims it again after each pause. Resolves with `claimed` or
 * `completed`, or with `busy` once no delivery waits here any more. If no delivery waits, as for a replay or
 * a job, there is one pause only, and a run whose body does not fit into the memory does not wait.
 *
 * A claim that fails does not end the waiting, because the event is known to be running. But the store may
 * have granted it, so the id is released at the end.
 */
export async function waitForOther(run: Run, first: Busy): Promise<ClaimReply> {
  const { answer, claim, interruption, resources } = run;
  const startedAt = performance.now();
  let busy = first;
  let hasFailed = false;
  // Other events can use the permits while this run waits.
  resources.giveBackAll();
  for (;;) {
    run.enter({ step: 'waiting', otherEndsAt: busy.endsAt });
    if (!resources.countBody()) break;
    await pause(run, pollPauseMs(busy, hasFailed));
    if (!answer.isAwaited || interruption.endReason !== undefined) break;
    const found = await claim.take().catch(() => undefined);
    if (found !== undefined && found.state !== 'busy') {
      noteWait(run, found, busy, startedAt);
      return found;
    }
    hasFailed ||= found === undefined;
    busy = found ?? busy;
  }
  if (hasFailed) void claim.release([]);
  return busy;
}

/** Waits, unless the run is aborted. */
async function pause({ interruption }: Run, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await interruption.orAbort(elapsed).catch(() => {});
  clearTimeout(timer);
}

/** Warns if this run had to wait until the lease of another one ran out: it explains the slow retry. */
function noteWait({ warnings }: Run, found: ClaimReply, { endsAt }: Busy, startedAt: number): void {
  // A store counts in whole milliseconds, so a lease may seem to end up to a millisecond later.
  if (found.state !== 'claimed' || found.result.abandoned === 0 || endsAt - performance.now() > 1) return;
  const waitedMs = Math.round(performance.now() - startedAt);
  warnings.push(
    `lease_awaited: this run waited ${waitedMs} ms for the lease (leaseMs) of an earlier one, which did not end: its process was killed or frozen, or its event loop was blocked`,
  );
}
