import { pause } from '../../receiver/timing/process-clock.ts';
import type { OperatedReceiver } from '../operated-receiver.ts';
import { chooseEntries, type RerunBody, type RerunRequest } from './choose.ts';
import type { EntryFilter } from './entry-filter.ts';
import { rerunOptions } from './rerun.ts';

/** The entries of a rerun, counted by what it would do with them. */
export interface RerunForecast {
  readonly dryRun: true;
  /** The number of events whose handlers would run. */
  readonly count: number;
  readonly counts: readonly ProspectCount[];
  /** The selection as of now, for the rerun: without events that come after the count. */
  readonly selection?: EntryFilter | undefined;
  readonly next?: RerunBody | undefined;
}

interface ProspectCount {
  readonly prospect: 'wouldRun' | 'done' | 'running' | 'refused' | 'missing';
  /** The reason for `refused`. */
  readonly code?: string | undefined;
  count: number;
}

/** Counts what a rerun would do, and does nothing. */
export async function foreseeRerun(
  receiver: OperatedReceiver['receiver'],
  request: RerunRequest,
): Promise<RerunForecast> {
  const { time } = request;
  const counts = new Map<string, ProspectCount>();
  let next: RerunBody | undefined = request.body;
  let selection: EntryFilter | undefined;
  while (next !== undefined && !time.isOver) {
    const body: RerunBody = next;
    const chosen = await chooseEntries({ ...request, body });
    for (const id of chosen.ids) add(counts, await prospectOf(receiver, { ...request, body }, id));
    selection = chosen.selection;
    next = chosen.next(chosen.ids.length);
    // A store in this process may answer within one turn of the event loop, during which deliveries wait.
    await pause(0);
  }
  const all = [...counts.values()];
  const count = all.reduce((sum, each) => sum + runsOf(each), 0);
  return { dryRun: true, count, counts: all, selection, next };
}

type Prospect = Pick<ProspectCount, 'prospect' | 'code'>;

async function prospectOf(
  receiver: OperatedReceiver['receiver'],
  { body, journal }: RerunRequest,
  id: string,
): Promise<Prospect> {
  const entry = await journal.get(id);
  if (entry === undefined) return { prospect: 'missing' };
  const { error, prospect } = await receiver.foreseeRerun(entry, rerunOptions(body));
  return { prospect, code: error?.code };
}

function add(counts: Map<string, ProspectCount>, { prospect, code }: Prospect): void {
  const key = JSON.stringify([prospect, code]);
  const counted = counts.get(key) ?? { prospect, code, count: 0 };
  counts.set(key, counted);
  counted.count += 1;
}

/** An event that runs elsewhere may have to be taken over. */
function runsOf({ count, prospect }: ProspectCount): number {
  return prospect === 'wouldRun' || prospect === 'running' ? count : 0;
}
