import type { RerunOptions } from '../../receiver/handling/ways-in/rerun-options.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import { settledWithin } from '../../receiver/timing/time-limit.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { type DeedResult, failedDeed } from '../deed.ts';
import type { OperatedReceiver } from '../operated-receiver.ts';
import type { RerunBody, RerunRequest } from './choose.ts';

/** The options of the rerun that a request asks for. */
export function rerunOptions({ handlers, reason, run }: RerunBody): RerunOptions {
  return { handlers, reason, run };
}

/** Runs handlers of an event again, unless that was done under the same name. Never rejects. */
export async function rerunEvent(
  receiver: OperatedReceiver['receiver'],
  { body, journal, time }: RerunRequest,
  id: string,
): Promise<DeedResult> {
  let type: string | undefined;
  try {
    const entry = await journal.get(id);
    if (entry === undefined) return { id, outcome: 'missing' };
    type = entry.type;
    const options = rerunOptions(body);
    // A rerun that was done would be a report to the observers.
    if ((await receiver.foreseeRerun(entry, options)).prospect === 'done')
      return { id, type, outcome: 'done' };
    const report = await settledWithin(receiver.rerun(entry, options), time.leftMs);
    return { id, type, ...endOf(report) };
  } catch (error) {
    return failedDeed(id, type, error);
  }
}

/** A rerun that takes longer than the request goes on without it. */
function endOf(report: Report | undefined): Omit<DeedResult, 'id' | 'type'> {
  if (report === undefined) return { outcome: 'running' };
  const { code, error, handlers, outcome } = report;
  if (outcome === 'duplicate') return { outcome: 'done' };
  const isSuperseded = handlers.some(({ skipped }) => skipped === 'superseded');
  return { outcome: isSuperseded ? 'superseded' : outcome, code, message: error && messageOf(error) };
}
