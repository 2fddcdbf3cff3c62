import { isUtf8 } from 'node:buffer';
import { isAccount } from '../../receiver/authentication/account.ts';
import { isTimeMs } from '../../receiver/events/age.ts';
import type { AcceptOptions } from '../../receiver/handling/ways-in/accept-options.ts';
import type { RawBody } from '../../receiver/request/raw-body.ts';
import { show, typeNameOf } from '../../receiver/values/foreign-values.ts';
import { isObject } from '../module-exports.ts';

/** An event of a line, and the facts about it that the line has. */
export interface LineEvent {
  readonly event: RawBody;
  readonly facts: Pick<AcceptOptions, 'headers' | 'createdAtMs' | 'account'>;
}

/** The reason why a line is not an event. */
export interface LineProblem {
  readonly problem: string;
  /** False if the line is not a JSON object. */
  readonly mayBeObject: boolean;
}

/** The account of all events, and whether the receiver has several accounts. */
export interface Accounts {
  readonly given: string | undefined;
  readonly areSeveral: boolean;
}

/** Reads a line as an event, or as an object around an event. */
export function readEventLine(bytes: Buffer, accounts: Accounts): LineEvent | LineProblem {
  const value = parseObject(bytes);
  if (typeof value === 'string') return { problem: value, mayBeObject: false };
  // Handed on as it stands in the file, an event keeps all digits of its numbers.
  const read: LineEvent | string = isWrapper(value) ? unwrap(value) : { event: bytes, facts: {} };
  if (typeof read === 'string') return { problem: read, mayBeObject: true };
  const { account = accounts.given } = read.facts;
  const problem = problemOfAccount(account, accounts);
  if (problem !== undefined) return { problem, mayBeObject: true };
  return { event: read.event, facts: { ...read.facts, account } };
}

/** Returns the reason as a text if the line is not a JSON object. */
function parseObject(bytes: Buffer): object | string {
  if (!isUtf8(bytes)) return 'it is not UTF-8';
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isRecord(value) ? value : `it must be a JSON object, and is ${typeNameOf(value)}`;
  } catch {
    // The message of JSON.parse quotes the line, which may hold personal data.
    return 'it is not JSON';
  }
}

function isRecord(value: unknown): value is object {
  return isObject(value) && !Array.isArray(value);
}

/** An object around an event. */
interface Wrapper {
  readonly event: unknown;
  readonly headers?: unknown;
  readonly createdAtMs?: unknown;
  readonly account?: unknown;
}

const MEMBERS: readonly string[] = ['event', 'headers', 'createdAtMs', 'account'] satisfies (keyof Wrapper)[];

/** An object with any other member is the event itself. */
function isWrapper(value: object): value is Wrapper {
  return Object.hasOwn(value, 'event') && Object.keys(value).every((name) => MEMBERS.includes(name));
}

/**
 * Returns the reason as a text if a member is wrong. A member that is null is absent: exports write it for a
 * column without a value.
 */
function unwrap({ event, headers, createdAtMs, account }: Wrapper): LineEvent | string {
  if (typeof event !== 'string' && !isRecord(event))
    return `event must be an object or a text, and is ${typeNameOf(event)}`;
  const facts: { -readonly [Name in keyof LineEvent['facts']]: LineEvent['facts'][Name] } = {};
  if (isHeaders(headers)) facts.headers = headers;
  // Headers may hold credentials, so their values are not shown.
  else if (!isAbsent(headers)) return `headers must be an object by name, and is ${typeNameOf(headers)}`;
  if (isTimeMs(createdAtMs)) facts.createdAtMs = createdAtMs;
  else if (!isAbsent(createdAtMs))
    return `createdAtMs must be a number of milliseconds since the epoch, and is ${show(createdAtMs)}`;
  if (isAccount(account)) facts.account = account;
  else if (!isAbsent(account))
    return `account must be a text of 1 to 256 characters, and is ${show(account)}`;
  return { event: typeof event === 'string' ? event : JSON.stringify(event), facts };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The receiver checks the value of each header that it reads. */
function isHeaders(value: unknown): value is { readonly [name: string]: string } {
  return isRecord(value);
}

function problemOfAccount(account: string | undefined, { given, areSeveral }: Accounts): string | undefined {
  if (account === undefined && areSeveral)
    return 'it does not say its account, and the receiver has several: give --account, or the member account';
  if (account !== undefined && !areSeveral)
    return 'it has an account, and the receiver does not have the option account';
  if (given === undefined || account === given) return undefined;
  return `its account is ${show(account)}, and that of --account is ${show(given)}`;
}
