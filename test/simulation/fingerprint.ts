import { LetterOperations } from '../../src/receiver/dead-letters/letter-operations.ts';
import { isHold } from '../../src/receiver/dedupe/claim-token.ts';
import type { Receiver } from '../../src/receiver-interface.ts';
import { clock, MONOTONIC_START, VirtualTimer, WALL_START } from './clock.ts';
import { waitsFor } from './letter-waits.ts';
import { isOfLetter, type Operation } from './operations.ts';
import { times } from './scope.ts';
import { firesAt, isLastByAge } from './time.ts';
import { leasesOf } from './watch-leases.ts';
import type { World } from './world.ts';

/** Fields that only reports and letters show: nothing is decided by them. */
const shown = [
  'runId',
  'durationMs',
  'receivedAt',
  'parkedAt',
  'lastTriedAt',
  'message',
  'warnings',
  '$warnings',
  '$lastDelivery',
];

/** Counts of answers, which are compared with an earlier one while an operation is pending. */
const counts = ['$answers', '$successes'];

/** Fields whose objects never change, or are the same in all worlds. To read them takes most of the time. */
const constants = [
  ...['settings', '$settings', '$replySettings', '$router', 'router', '$middlewares', 'middlewares'],
  ...['$reporter', '$authenticator', '$storeProbe', '$letterCount', '$misdirected', '$deadLetters'],
  ...['event', 'createdAt', 'rawBody', 'headers', 'routes'],
];

const ignored = new Set([...shown, ...counts, ...constants]);

/** No time matters that is longer ago, or further ahead. */
const PAST_MS = times.deadlineMs;
const FUTURE_MS = times.maxRunMs;

/** Takes the parts of a fingerprint, in order. */
export interface Sink {
  add(part: string | number): void;
}

/**
 * Reads all that two states of a world must have in common to go on alike: all objects that the receivers
 * reach, and the state of the world. Functions and promises cannot be read. Times count from now, and tokens
 * are named in the order in which they are met.
 */
export function readState(world: World, sink: Sink): void {
  const reader = new Reader(world.tokens, sink, world.scope.faults.includes('letter'));
  const { deliveries, faults, letters, processes, promises, records } = world;
  for (const { receiver, state, frozenAt, isTold } of processes) {
    reader.read(state);
    reader.read(isTold);
    if (state === 'frozen') reader.read(frozenAt);
    if (state !== 'dead') reader.read(receiver);
  }
  for (const { name, pending, state } of processes) {
    reader.read(name);
    if (state !== 'dead') for (const lease of leasesOf(name)) reader.read(lease);
    for (const operation of pending) reader.readOperation(operation);
    for (const timer of clock.timers) if (timer.process === name) reader.readTimer(timer);
  }
  for (const [id, { facts }] of [...records].sort()) reader.read([id, facts]);
  reader.read([letters, faults, world.faultCount]);
  for (const { name, process, begunAt, isOver } of world.calls) {
    reader.read([name, process.name, isOver]);
    // A suspended function has the deadline of a run that begins later.
    if (name === 'rerun' && !isOver) reader.read(begunAt);
  }
  for (const operation of world.late) {
    reader.read(operation.process);
    reader.readOperation(operation);
    if (operation.kind === 'claim') reader.read(promises.claims.refusedUntil(operation.token));
  }
  for (const { process, isLast, state, sentAt } of deliveries)
    reader.read([process.name, isLast, state, state === 'waiting' ? sentAt : 0]);
  reader.read(promises.facts);
  reader.read(isLastByAge());
  // A run that an accept or a rerun begins later will hold the age of the event.
  if (world.scope.accepts > 0 || world.scope.reruns.length > 0) reader.read(WALL_START);
}

/** The names of the fields that count, by class: all objects of a class have the same. */
const fieldsOf = new Map<unknown, readonly string[]>();

class Reader {
  readonly #sink: Sink;
  readonly #mayLettersHang: boolean;
  readonly #tokens: ReadonlyMap<string, string>;
  readonly #names = new Map<string, number>();
  readonly #met = new Map<object, number>();

  constructor(tokens: ReadonlyMap<string, string>, sink: Sink, mayLettersHang: boolean) {
    this.#tokens = tokens;
    this.#sink = sink;
    this.#mayLettersHang = mayLettersHang;
  }

  readOperation(operation: Operation): void {
    const { alsoNeeds, answer, cause, hasArrived, isLost, kind, request, sentAt, token } = operation;
    this.read(kind);
    this.read(token);
    for (const other of alsoNeeds) this.read(other);
    this.read(request);
    if (isOfLetter(kind)) this.read(cause);
    if (kind !== 'handlers') this.read(sentAt);
    if (hasArrived) this.read(kind === 'claim' && isLost ? hasArrived : answer);
    this.read(isLost);
  }

  readTimer(timer: VirtualTimer): void {
    this.read(timer.cause);
    this.#sink.add(timer.intervalMs === undefined ? 'timer' : 'interval');
    this.read(timer.intervalMs === undefined ? firesAt(timer) : timer.startedAt);
    // The limit of an operation on a letter depends on it: `src/receiver/dead-letters/operation-queue.ts`.
    if (timer.intervalMs !== undefined && this.#mayLettersHang) this.read(timer.hasSeenLetter);
  }

  read(value: unknown): void {
    if (typeof value === 'number') this.#sink.add(fromNow(value));
    else if (typeof value === 'string') this.#readText(value);
    else if (typeof value === 'object' && value !== null) this.#readObject(value);
    else if (typeof value === 'function') this.#sink.add('function');
    else this.#sink.add(String(value));
  }

  #readText(text: string): void {
    if (!this.#tokens.has(text)) {
      this.#sink.add(text);
      return;
    }
    const name = this.#names.get(text) ?? this.#names.size;
    this.#names.set(text, name);
    this.#sink.add(isHold(text) ? 'hold' : 'token');
    this.#sink.add(name);
  }

  #readObject(value: object): void {
    const met = this.#met.get(value);
    if (met !== undefined) {
      this.#sink.add('met');
      this.#sink.add(met);
      return;
    }
    this.#met.set(value, this.#met.size);
    if (Array.isArray(value) || value instanceof Set) {
      for (const one of value) this.read(one);
      this.#sink.add('end');
    } else if (value instanceof Map) {
      for (const [key, one] of value) {
        this.read(key);
        this.read(one);
      }
      this.#sink.add('end');
    } else if (value instanceof VirtualTimer) this.readTimer(value);
    else if (value instanceof Promise || value instanceof Uint8Array) this.#sink.add('unread');
    else this.#readFields(value);
  }

  #readFields(value: object): void {
    const { constructor: made } = value;
    if (made === Object) {
      for (const key of Object.keys(value)) {
        if (ignored.has(key)) continue;
        this.#sink.add(key);
        this.read(Reflect.get(value, key));
      }
      this.#sink.add('end');
      return;
    }
    let fields = fieldsOf.get(made);
    if (fields === undefined) {
      fields = Object.keys(value).filter((key) => !ignored.has(key));
      fieldsOf.set(made, fields);
    }
    this.#sink.add(made.name);
    if (value instanceof LetterOperations) this.#sink.add(waitsFor(value));
    for (const key of fields) this.read(Reflect.get(value, key));
  }
}

/** A time as it is seen from now; any other number as it is. */
function fromNow(value: number): number {
  if (value < MONOTONIC_START / 2) return value;
  if (value < MONOTONIC_START * 2) return clamp(value - clock.now);
  return Number.isFinite(value) && value > WALL_START / 2 ? clamp(value - clock.wallTime) : value;
}

/** Apart from durations by a fraction, so that a time is never taken for one. */
function clamp(ms: number): number {
  return Math.max(-PAST_MS, Math.min(FUTURE_MS, ms)) + 0.5;
}

const textIds = new Map<string, number>();

/** Makes a number of 52 bits of a fingerprint. */
export class Hash implements Sink {
  #high = 1;
  #low = 2;

  add(part: string | number): void {
    const number = typeof part === 'number' ? 2 * part + 1 : -idOf(part);
    this.#high = Math.imul(this.#high ^ number, 0x9e3779b1);
    this.#high ^= this.#high >>> 15;
    this.#low = Math.imul(this.#low + number, 0x85ebca6b);
    this.#low ^= this.#low >>> 13;
  }

  get value(): number {
    return (this.#high >>> 0) * 2 ** 20 + ((this.#low >>> 0) & 0xfffff);
  }
}

function idOf(text: string): number {
  let id = textIds.get(text);
  if (id === undefined) {
    id = textIds.size;
    textIds.set(text, id);
  }
  return id;
}

/** Writes a fingerprint for people. */
export class Text implements Sink {
  text = '';

  add(part: string | number): void {
    this.text += ` ${part}`;
  }
}

/** All objects that a receiver reaches. */
export function receiverText(receiver: Receiver): string {
  const text = new Text();
  new Reader(new Map(), text, false).read(receiver);
  return text.text;
}

/** The fingerprint of a state: states with the same one go on alike. */
export function fingerprintOf(world: World): number {
  const hash = new Hash();
  readState(world, hash);
  return hash.value;
}
