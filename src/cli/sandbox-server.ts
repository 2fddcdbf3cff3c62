import { InvalidArgumentError, Option } from 'commander';
import { propertyOf } from '../receiver/values/foreign-values.ts';
import type { Sandbox } from '../service/sandbox/index.ts';
import { CommandError } from './failure.ts';
import { programName } from './program-name.ts';
import { quote } from './quote.ts';

/** The default port of a sandbox. */
export const SANDBOX_PORT = 4010;

/** The address at which commands look for a running sandbox by default. */
export const DEFAULT_ADDRESS: string = `http://127.0.0.1:${SANDBOX_PORT}`;

/**
 * Commands for the sandbox at the address, to be pasted in another terminal, each by itself. `type` is the
 * type of the events that it delivers.
 */
export function commandsToTry(url: string, type = 'transfer.succeeded'): string[] {
  const place = url === DEFAULT_ADDRESS ? '' : ` --sandbox ${quote(url)}`;
  const words = [`trigger ${type}`, `trigger ${type} --duplicate`, 'advance 21m', 'deliveries'];
  return words.map((command) => `${programName()} ${command}${place}`);
}

/** The kind of a clock that moves. */
export type ClockKind = 'real' | 'manual';

/** The address of a sandbox, and the speed of its clock. */
export interface PlayOptions {
  readonly port: number;
  readonly host: string;
  readonly clock: ClockKind;
  readonly speed?: number;
}

export function clockOptions(kind?: ClockKind): readonly Option[] {
  const description = 'real, or manual: moved only by posthorn advance or POST /sandbox/clock';
  return [
    new Option('--clock <kind>', description).choices(['real', 'manual']).default(kind),
    new Option('--speed <number>', 'the seconds that pass in each real second').argParser(parseSpeed),
  ];
}

function parseSpeed(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('It must be a number above 0.');
}

/** Without a kind the sandbox ages events. */
export function describeClock(clock: ClockKind | undefined, speed = 1): string {
  if (clock === undefined) {
    return speed === 1 ? 'a step ages its events' : `its events age ${speed} times as fast`;
  }
  if (clock === 'manual') return 'its clock stands until it is moved';
  return speed === 1 ? 'its clock is the real one' : `its clock runs ${speed} times as fast as the real one`;
}

/** Serves a sandbox. The error for a taken port suggests the usual reason, another sandbox. */
export async function listenOn(
  sandbox: Sandbox,
  port: number,
  host: string,
): Promise<{ readonly url: string; readonly port: number }> {
  try {
    return await sandbox.listen(port, host);
  } catch (cause) {
    if (propertyOf(propertyOf(cause, 'cause'), 'code') !== 'EADDRINUSE') throw cause;
    throw new CommandError(
      'usage_invalid',
      `port ${port} of ${host} is taken (EADDRINUSE), perhaps by another sandbox: end it, or give --port; ` +
        '0 takes a free one',
      { cause },
    );
  }
}
