import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Note, readNotes } from '../support/notes.ts';
import { randomPause } from '../support/random-pause.ts';
import { removeAtEnd } from '../support/reaper.ts';
import { until } from '../support/until.ts';
import { post, type Settings, type Started, start } from './process.ts';
import type { Version } from './version.ts';

/** How an event of the storm ends, decided by its number. The letters of some are dropped at once. */
const PLANS: readonly { readonly id?: string; readonly plan: object }[] = [
  { plan: { plan: 'succeed' } },
  { plan: { plan: 'succeed', failures: 1 } },
  { plan: { plan: 'succeed', failures: 2 } },
  { plan: { plan: 'succeed' } },
  { id: 'evt_dropped', plan: { plan: 'refuse' } },
  { plan: { plan: 'refuse' } },
];

const SENDERS = 6;
/** Between two tries of an event, at most. */
const RETRY_PAUSE_MS = 100;
/** In this time any event is acknowledged, on a busy machine and after the leases of killed processes. */
const PATIENCE_MS = 60_000;

interface SentEvent {
  readonly id: string;
  readonly body: string;
}

/** The type of the events, and what their data holds besides the plan. */
export interface EventForm {
  readonly type: string;
  readonly data?: object;
}

/** Receivers and workers of two versions, which are killed and replaced while events are sent to them. */
export class Deploy {
  readonly events: SentEvent[] = [];
  readonly counts = { deliveries: 0, refused: 0, cut: 0, kills: 0, stops: 0 };
  readonly #settings: Settings;
  readonly #log: string;
  readonly #form: EventForm;
  readonly #receivers: Started[] = [];
  readonly #versions = new Map<string, Version>();
  #isOver = false;

  constructor(settings: Settings, form: EventForm) {
    const directory = mkdtempSync(join(tmpdir(), 'posthorn-deploy-'));
    removeAtEnd(directory);
    this.#log = join(directory, 'log');
    writeFileSync(this.#log, '');
    this.#settings = { leaseMs: 4_000, ...settings, log: this.#log };
    this.#form = form;
  }

  async start(version: Version, role: 'receiver' | 'worker' = 'receiver'): Promise<Started> {
    const started = await start(version, { ...this.#settings, role });
    this.#versions.set(started.pid, version);
    return started;
  }

  /** How often handlers have ended well in processes of a version. */
  handledBy(version: Version): number {
    const isOf = ({ what, pid }: Note): boolean => what === 'handled' && this.#versions.get(pid) === version;
    return this.notes().filter(isOf).length;
  }

  /** Lets a receiver have deliveries from now on. */
  async add(version: Version): Promise<Started> {
    const started = await this.start(version);
    this.#receivers.push(started);
    return started;
  }

  /** Ends a process by a signal: SIGKILL in the middle of its work, SIGTERM after it. */
  async end(started: Started, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const place = this.#receivers.indexOf(started);
    // A proxy stops sending to a receiver that is stopped, but not to one that dies.
    if (place >= 0 && signal === 'SIGTERM') this.#receivers.splice(place, 1);
    started.kill(signal);
    await started.exit;
    if (place >= 0 && signal === 'SIGKILL') this.#receivers.splice(this.#receivers.indexOf(started), 1);
    this.counts[signal === 'SIGKILL' ? 'kills' : 'stops'] += 1;
  }

  /** Sends events while `steps` runs; resolves once all of them are acknowledged. */
  async storm(steps: () => Promise<void>): Promise<void> {
    const senders = Array.from({ length: SENDERS }, () => this.#send());
    try {
      await steps();
    } finally {
      this.#isOver = true;
      await Promise.all(senders);
    }
  }

  /** Resolves once so many more deliveries have been answered or cut off. */
  async deliveries(count: number): Promise<void> {
    const enough = this.counts.deliveries + count;
    await until(`${count} more deliveries`, () => this.counts.deliveries >= enough, PATIENCE_MS);
  }

  notes(): Note[] {
    return readNotes(this.#log);
  }

  /**
   * The notes without the drops of a version that completes an event without claiming it: a handler in
   * another process may have the claim, and begins just after such a drop.
   */
  notesWithoutDropsOf(version: Version): Note[] {
    return this.notes().filter(({ what, pid }) => what !== 'dropped' || this.#versions.get(pid) !== version);
  }

  async #send(): Promise<void> {
    while (!this.#isOver) {
      const event = this.#createEvent();
      await until(`${event.id} is acknowledged`, () => this.#deliver(event), PATIENCE_MS);
    }
  }

  #createEvent(): SentEvent {
    const number = this.events.length;
    const { id: prefix = 'evt', plan = {} } = PLANS[number % PLANS.length] ?? {};
    const id = `${prefix}_${number}`;
    const data = { ...plan, workMs: 60, ...this.#form.data };
    const created_at = new Date().toISOString();
    const event = { id, body: JSON.stringify({ id, type: this.#form.type, created_at, data }) };
    this.events.push(event);
    return event;
  }

  /** Sends an event twice at once, to any receivers; resolves with true if one has acknowledged it. */
  async #deliver({ body }: SentEvent): Promise<boolean> {
    const answers = await Promise.all([this.#post(body), this.#post(body)]);
    if (answers.includes(true)) return true;
    await randomPause(RETRY_PAUSE_MS);
    return false;
  }

  async #post(body: string): Promise<boolean> {
    const receiver = this.#receivers[Math.floor(Math.random() * this.#receivers.length)];
    if (receiver === undefined) return false;
    const { status } = await post(receiver.url, body).catch(() => ({ status: 0 }));
    this.counts.deliveries += 1;
    if (status === 0) this.counts.cut += 1;
    else if (status >= 300) this.counts.refused += 1;
    return status >= 200 && status < 300;
  }
}

/** The ids for which a handler began after the event was reported as handled, or was given up. */
export function repeatedIn(notes: readonly Note[]): string[] {
  const done = new Set<string>();
  const repeated = new Set<string>();
  for (const { what, id, rest } of notes) {
    if (what === 'dropped' || (what === 'reported' && /^processed\b/.test(rest))) done.add(id);
    if (what === 'begun' && done.has(id)) repeated.add(id);
  }
  return [...repeated];
}

/**
 * The ids whose handler has ended well, or whose letter was dropped. A process that is killed may not note a
 * drop, but has noted the letter before.
 */
export function endedIn(notes: readonly Note[]): Set<string> {
  const isEnd = ({ what, id, rest }: Note): boolean =>
    /^(handled|dropped)$/.test(what) || (id.startsWith('evt_dropped') && /^parked\b/.test(rest));
  return new Set(notes.flatMap((note) => (isEnd(note) ? [note.id] : [])));
}
