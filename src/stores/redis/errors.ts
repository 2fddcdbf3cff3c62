import { messageOf } from '../../receiver/values/foreign-values.ts';

/** The message of the errors while a client is not ready, by its status. */
export function absenceOf(status: string): string {
  return `the Redis client is not connected (its status is "${status}")`;
}

/** The error of a script that has not been answered in time, or came too late. */
export function lateError(limitMs: number): Error {
  return new Error(`Redis gave no answer in ${limitMs} ms`);
}

/** Returns true if Redis does not have the script, so it has run nothing. */
export function isScriptMissing(error: unknown): boolean {
  return messageOf(error).startsWith('NOSCRIPT');
}

/** Returns true if a script failed at one of its keys. Other errors are about the whole server. */
export function isAboutOneKey(error: unknown): boolean {
  return /^(WRONGTYPE |ERR .*script)/.test(messageOf(error));
}
