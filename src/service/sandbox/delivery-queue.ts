import { setMaxListeners } from 'node:events';
import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import { clearTimeout, setTimeout } from '../../receiver/timing/process-clock.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { aged, agingOf } from './aging.ts';
import { type DeliveryAttempt, post } from './attempt.ts';
import { LAST_MOMENT } from './clock.ts';
import { deliveryRequest, serialize } from './delivery-request.ts';
import { isWanted } from './event-filter.ts';
import type { SentEvent } from './event-request.ts';
import { checkTogether, keptCount } from './memory-limits.ts';
import { RefusedError } from './refused-error.ts';
import { followingStep } from './retry-schedule.ts';
import { earliestDueAt, type PendingDelivery, type State, type StoredWebhook } from './state.ts';
import type { Webhooks } from './webhooks.ts';

const MAX_TIMER_MS = 2 ** 31 - 1;

interface DeliverySettings {
  readonly signatureHeader: string;
  /** The time that an endpoint has for its answer, in real time. */
  readonly answerTimeoutMs: number;
  /** Called with each attempt that has ended. */
  readonly onAttempt: (attempt: DeliveryAttempt) => void;
}

/** Delivers events when they are due by the sandbox's clock, and again when they fail. */
export class DeliveryQueue {
  readonly #state: State;
  readonly #webhooks: Webhooks;
  readonly #settings: DeliverySettings;
  readonly #underWay = new Map<PendingDelivery, Promise<void>>();
  readonly #closing = new AbortController();
  #steps: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(state: State, webhooks: Webhooks, settings: DeliverySettings) {
    this.#state = state;
    this.#webhooks = webhooks;
    this.#settings = settings;
    // Every request under way listens to it, and Node.js warns of so many listeners.
    setMaxListeners(0, this.#closing.signal);
    this.#startDue();
  }

  /**
   * Delivers an event to every enabled webhook that wants it. Throws {@link RefusedError} if so many
   * deliveries of an event of its size would not fit into memory.
   */
  add({ event, duplicates, changed, delayMs }: SentEvent): void {
    const { clock } = this.#state;
    const { time, realTime } = clock.reading();
    const aging = clock.agesEvents ? { aheadMs: time - realTime } : {};
    const dueAt = time + delayMs;
    const webhooks = this.#webhooksFor(event);
    const deliveries = webhooks.length * (1 + duplicates);
    if (deliveries > 1) checkTogether(serialize(event).length, deliveries);
    for (const webhook of webhooks) {
      const first = { event, webhook: webhook.id, number: 1, ...(changed && { changed }), dueAt, ...aging };
      this.#state.pending.push({ ...first, duplicate: false });
      for (let copy = 0; copy < duplicates; copy += 1)
        this.#state.pending.push({ ...first, duplicate: true });
    }
    this.#state.save();
    this.#startDue();
  }

  /**
   * Delivers an event once more to every enabled webhook that wants it, as a copy, which is never retried.
   * Throws {@link RefusedError} if there is no such webhook.
   */
  resend(event: WebhookEvent): void {
    const dueAt = this.#state.clock.now();
    const webhooks = this.#webhooksFor(event);
    if (webhooks.length === 0) throw new RefusedError(409, 'No enabled webhook wants the event');
    for (const { id } of webhooks)
      this.#state.pending.push({ event, webhook: id, number: 1, duplicate: true, dueAt });
    this.#state.save();
    this.#startDue();
  }

  /** The enabled webhooks that want the event. */
  #webhooksFor({ type }: WebhookEvent): readonly StoredWebhook[] {
    return this.#webhooks.all.filter(
      ({ enabled, enabled_events }) => enabled && isWanted(type, enabled_events),
    );
  }

  /**
   * Moves the clock, and stops at each delivery that falls due until it is answered, so that the retries of
   * one step see each other's results. Overlapping steps are made one after the other.
   */
  advance(ms: number): Promise<void> {
    return this.#inLine(() => this.#advance(ms));
  }

  /** Moves the clock to the next pending delivery. Resolves with the step; undefined if none is pending. */
  advanceToNext(): Promise<number | undefined> {
    return this.#inLine(async () => {
      await this.settled();
      const next = this.#nextDueAt();
      if (next === undefined) return undefined;
      const stepMs = Math.max(0, next - this.#state.clock.now());
      await this.#advance(stepMs);
      return stepMs;
    });
  }

  #inLine<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#steps.then(step);
    this.#steps = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  async #advance(ms: number): Promise<void> {
    const { clock } = this.#state;
    await this.settled();
    if (clock.now() + ms > LAST_MOMENT)
      throw new RefusedError(400, 'Invalid step', 'the clock ends with the year 9999');
    // A retry is due later by the time that the attempts before it took. A clock that runs meanwhile is not
    // part of the step, so that 21 minutes reach the last attempt of an event.
    let leftMs = ms;
    const isOnTheWay = (dueAt: number): boolean => dueAt <= clock.now() + leftMs;
    for (let next = this.#nextDueAt(); next !== undefined && isOnTheWay(next); next = this.#nextDueAt()) {
      if (this.#closing.signal.aborted) return;
      leftMs -= clock.stepTo(next);
      this.#startDue();
      await this.settled();
    }
    clock.stepTo(clock.now() + leftMs);
    this.#state.save();
    this.#startDue();
  }

  /** Resolves once nothing is under way; retries that are not due yet are not waited for. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values());
  }

  /** Ends the deliveries under way, which stay pending in the state. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.settled();
  }

  #nextDueAt(): number | undefined {
    return earliestDueAt(this.#state.pending.filter((delivery) => !this.#underWay.has(delivery)));
  }

  #startDue(): void {
    if (this.#closing.signal.aborted) return;
    const now = this.#state.clock.now();
    for (const delivery of [...this.#state.pending]) {
      if (delivery.dueAt <= now && !this.#underWay.has(delivery)) this.#start(delivery);
    }
    this.#setTimer();
  }

  /** Sets a timer for the next delivery, unless the clock only steps. */
  #setTimer(): void {
    clearTimeout(this.#timer);
    const next = this.#nextDueAt();
    const delayMs = next === undefined ? undefined : this.#state.clock.realMsUntil(next);
    if (delayMs === undefined) return;
    this.#timer = setTimeout(() => this.#startDue(), Math.min(Math.max(delayMs, 1), MAX_TIMER_MS));
    // A listening server keeps the process alive; a pending retry need not.
    this.#timer.unref();
  }

  #start(delivery: PendingDelivery): void {
    const webhook = this.#webhooks.find(delivery.webhook);
    if (webhook === undefined || !webhook.enabled) {
      this.#remove(delivery);
      return;
    }
    const end = this.#attempt(delivery, webhook)
      .catch((error: unknown) => {
        // This call is not awaited. The next call that changes something fails in the same way.
        process.emitWarning(`sandbox: ${messageOf(error)}`);
      })
      .finally(() => {
        this.#underWay.delete(delivery);
        this.#startDue();
      });
    this.#underWay.set(delivery, end);
  }

  async #attempt(delivery: PendingDelivery, webhook: StoredWebhook): Promise<void> {
    const { signatureHeader, answerTimeoutMs } = this.#settings;
    const { signal } = this.#closing;
    const now = this.#state.clock.shownNow();
    const { event, number, duplicate, changed = false } = delivery;
    const agedMs = this.#agedMs(delivery);
    const request = deliveryRequest(aged(event, agedMs), changed, webhook, signatureHeader, now);
    const answer = await post(request, { answerTimeoutMs, signal });
    if (signal.aborted) return;
    this.#conclude(delivery, {
      event: event.id,
      webhook: webhook.id,
      number,
      duplicate,
      ...(changed && { changed }),
      ...agingOf(event, agedMs, webhook.id, this.#state.attempts),
      at: new Date(now).toISOString(),
      request,
      ...answer,
    });
  }

  /** A slow clock does not make an event younger. */
  #agedMs({ aheadMs }: PendingDelivery): number {
    return aheadMs === undefined ? 0 : Math.max(0, this.#state.clock.aheadMs() - aheadMs);
  }

  #conclude(delivery: PendingDelivery, attempt: DeliveryAttempt): void {
    const { attempts } = this.#state;
    attempts.push(attempt);
    attempts.splice(0, attempts.length - keptCount(attempts));
    this.#schedule(delivery, attempt);
    this.#state.save();
    this.#settings.onAttempt(attempt);
  }

  /** Schedules what follows an attempt. */
  #schedule(delivery: PendingDelivery, attempt: DeliveryAttempt): void {
    this.#remove(delivery);
    const next = followingStep(attempt);
    if (next === 'none') return;
    if (next === 'give up') {
      this.#webhooks.update(delivery.webhook, { enabled: false });
      return;
    }
    const dueAt = this.#state.clock.now() + next.retryAfterMs;
    this.#state.pending.push({ ...delivery, number: delivery.number + 1, dueAt });
  }

  #remove(delivery: PendingDelivery): void {
    this.#state.pending.splice(this.#state.pending.indexOf(delivery), 1);
  }
}
