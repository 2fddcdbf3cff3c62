import { rerunId, rerunTurnId } from '../../../src/receiver/dedupe/claim-id.ts';
import type { HandlerContext } from '../../../src/receiver/handling/handlers/route.ts';
import type { Report, Rerun } from '../../../src/receiver/outcomes/report.ts';
import { clock } from '../clock.ts';
import type { StoreRecord } from '../store-record.ts';
import type { WalkProcess } from './process.ts';
import type { HandlerRun, SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/** The beginnings of the ids that only reruns have. */
const PREFIXES = [rerunId('', '', ''), rerunTurnId('', '')].map((id) => id.slice(0, id.indexOf('0')));

/** Returns true for the id of a rerun of an event. */
export function isRerunId(id: string, event: SimulatedEvent): boolean {
  return PREFIXES.some((prefix) => id.startsWith(prefix)) && id.endsWith(`:${event.id}`);
}

/** The token of the claim that the rerun of a handler has. */
export function rerunTokenOf(
  world: WalkWorld,
  process: WalkProcess,
  event: SimulatedEvent,
  handler: string,
  { run }: Rerun,
): string | undefined {
  const record = world.store.recordOf(rerunId(handler, run, event.id));
  return isOwn(world, process, record) ? record.token : undefined;
}

function isOwn(
  { claims }: WalkWorld,
  process: WalkProcess,
  { leaseEndsAt, state, token = '' }: StoreRecord,
): boolean {
  return state === 'processing' && claims.get(token)?.process === process && leaseEndsAt > clock.now;
}

/**
 * The handler of a rerun begins: on its own claim, while it has the turn of its handler, and not after this
 * run was reported as processed. Suspended if the store has forgotten the event. The run does not know yet
 * if another process has completed it meanwhile.
 */
export function checkRerun(
  world: WalkWorld,
  run: HandlerRun,
  event: SimulatedEvent,
  { rerun = { run: '' } }: HandlerContext,
  where: string,
): void {
  if (event.forgottenAt > 0) return;
  const { process, handler } = run;
  const name = world.configuration.handlers[handler]?.name ?? '';
  const isCompleted = world.store.recordOf(rerunId(name, rerun.run, event.id)).state === 'completed';
  if (run.token === undefined && !isCompleted)
    world.promises.break('handlers begin only on a lease that holds', where);
  const turn = world.store.recordOf(rerunTurnId(name, event.id));
  if (!isOwn(world, process, turn))
    world.promises.break('a rerun begins only while it has the turn of its handler', where);
  const task = taskOf(name, rerun.run);
  if (event.rerunsDone.has(task) || event.rerunsDone.has(unrecorded(task, process)))
    world.promises.break('no rerun runs again after it was reported as processed', `${task} of ${where}`);
}

/**
 * A rerun of a handler runs beside no other rerun of it, and beside no other run of the event that is not
 * completed. Suspended if a process stood still or the store failed, if the store has forgotten the event,
 * and for handlers that run without a claim or were aborted.
 */
export function checkRerunAlone(
  world: WalkWorld,
  run: HandlerRun,
  event: SimulatedEvent,
  where: string,
): void {
  const isExcused =
    event.forgottenAt > 0 ||
    ['standstill', 'store'].some((fault) => event.faults.has(fault)) ||
    world.processes.some(({ stoodStillAt }) => stoodStillAt >= 0);
  if (isExcused) return;
  for (const other of event.running) {
    if (other.isAborted() || other.token === undefined || run.token === undefined) continue;
    if (other.rerun === undefined && run.rerun === undefined) continue;
    const areReruns = other.rerun !== undefined && run.rerun !== undefined;
    const mayRunBeside = areReruns ? other.handler !== run.handler : event.completedAt !== undefined;
    if (!mayRunBeside)
      world.promises.break('a rerun of a handler runs alone', `${where}, beside ${other.process.name}`);
  }
}

/** A rerun has ended. Until its completion is recorded, only its process knows of it. */
export function noteRerun(
  process: WalkProcess,
  event: SimulatedEvent,
  handler: string,
  run: string,
  { outcome, warnings }: Report,
): void {
  if (outcome !== 'processed') return;
  const task = taskOf(handler, run);
  const isPending = warnings.some((warning) => warning.startsWith('completion_pending'));
  event.rerunsDone.add(isPending ? unrecorded(task, process) : task);
}

function taskOf(handler: string, run: string): string {
  return `${run} of ${handler}`;
}

function unrecorded(task: string, { name }: WalkProcess): string {
  return `${task}, not recorded by ${name}`;
}
