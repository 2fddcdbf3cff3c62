import type { Report } from '../../../src/receiver/outcomes/report.ts';
import { letterTimeMs } from '../../../src/receiver/timing/deadline.ts';
import { clock } from '../clock.ts';
import { checkKeyBusy } from './key-promises.ts';
import type { WalkProcess } from './process.ts';
import { isSuccess, type SentDelivery, type SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/** The service gets an answer. */
export function noteAnswer(
  world: WalkWorld,
  event: SimulatedEvent,
  delivery: SentDelivery,
  status: number,
  body: string,
): void {
  delivery.status = status;
  const { deadlineMs } = world.configuration.times;
  const { process, receivedAt = 0 } = delivery;
  const where = `${delivery.name} by ${process.name}`;
  if (isSuccess(status)) checkKept(world, event, where);
  const tookMs = clock.now - receivedAt;
  if (tookMs > deadlineMs && process.stoodStillAt < receivedAt)
    world.promises.break('every delivery is answered by its deadline', `${where}, after ${tookMs} ms`);
  // At the deadline the letter may still be on its way.
  if (tookMs < deadlineMs) checkPermanent(world, event, delivery, body, where);
  checkLast(world, event, delivery, body, where);
  if (body.includes('key_busy')) checkKeyBusy(world, event, delivery, where);
}

/** An event that was answered with a 2xx needs no further delivery. */
function checkKept({ letters, promises }: WalkWorld, event: SimulatedEvent, where: string): void {
  const isKept = promises.isHandled(event) || event.isDropped || letters.has(event.id) || event.isQueued;
  if (!isKept) promises.break('no 2xx before the event is handled, parked, dropped or queued', where);
}

/** Codes of failures that no further accept mends by itself. */
const PARKED_CODES: readonly (string | undefined)[] = [
  'handler_failed',
  'handler_failed_permanently',
  'run_timeout',
  'data_invalid',
  'queue_unavailable',
];

/**
 * An accept has ended. What its handlers failed is parked. Suspended if letters fail, or are late after a
 * standstill.
 */
export function noteAccepted(
  { name, world }: WalkProcess,
  event: SimulatedEvent,
  { code, outcome, status }: Report,
): void {
  const where = `${event.id} in ${name}`;
  if (isSuccess(status)) {
    event.hasAcceptSucceeded = true;
    checkKept(world, event, where);
  }
  const isExcused = mayLettersFail(world) || event.faults.has('standstill');
  const mustBeParked = outcome === 'failed' && PARKED_CODES.includes(code);
  if (mustBeParked && world.configuration.hasDeadLetters && !isExcused)
    world.promises.break('an accept whose handlers fail is parked', `${where}: ${code}`);
}

/**
 * A letter that is late can fail those of other events: the dead letters count as down
 * (`operation-queue.ts`).
 */
function mayLettersFail({ events }: WalkWorld): boolean {
  return events.some(({ faults }) => faults.has('letters'));
}

/** An event that fails for good is parked. Suspended if letters fail, or are late after a standstill. */
function checkPermanent(
  world: WalkWorld,
  event: SimulatedEvent,
  { status }: SentDelivery,
  body: string,
  where: string,
): void {
  const isExcused = mayLettersFail(world) || event.faults.has('standstill');
  const isRefused = body.includes('handler_failed_permanently') && !isSuccess(status);
  if (isRefused && world.configuration.hasDeadLetters && !isExcused)
    world.promises.break('an event that fails for good is parked', where);
}

/**
 * The last delivery is not refused while letters can be stored: neither the last by the age of the event, nor
 * the last attempt of the service if all before it have failed. Suspended if letters fail, if the process
 * stood still meanwhile, if the store has forgotten the event, and for a body that does not fit into the
 * memory, because it is not read. If a clock is wrong, only the store knows the number of the attempt. It
 * must have granted the claim, and no process may have stood still: late claims count as one attempt.
 */
function checkLast(
  world: WalkWorld,
  event: SimulatedEvent,
  delivery: SentDelivery,
  body: string,
  where: string,
): void {
  const { status, isLastByAge, process, receivedAt = 0 } = delivery;
  const { hasDeadLetters, times } = world.configuration;
  const { attempts } = event;
  // Attempts without a claim are not counted.
  const isUncounted = world.promises.mayBeUnclaimed(event);
  const isLastAttempt =
    !isUncounted &&
    attempts.length > times.retryScheduleMs.length &&
    attempts.at(-1) === delivery &&
    attempts.slice(0, -1).every((attempt) => attempt.status === 500);
  if (isSuccess(status) || !hasDeadLetters || !(isLastByAge || isLastAttempt)) return;
  const isExcused =
    mayLettersFail(world) ||
    event.forgottenAt > 0 ||
    process.stoodStillAt >= receivedAt ||
    body.includes('buffer_full') ||
    (world.hasWrongClock &&
      (status !== 500 || world.processes.some(({ stoodStillAt }) => stoodStillAt >= 0)));
  if (!isExcused)
    world.promises.break('the last delivery is not refused while letters can be stored', `${where}: ${body}`);
}

/** `close()` has resolved: after its grace it aborts the handlers, and waits for what that needs. */
export function noteClosed(
  world: WalkWorld,
  { closingSince = 0, name, stoodStillAt }: WalkProcess,
  graceMs: number,
): void {
  const { commandTimeoutMs, deadlineMs } = world.configuration.times;
  const mostMs = graceMs + 2 * commandTimeoutMs + 3 * letterTimeMs(deadlineMs) + 2_000;
  if (stoodStillAt < closingSince && clock.now - closingSince > mostMs)
    world.promises.break('close() resolves soon after its grace', `${name}: ${clock.now - closingSince} ms`);
}
