import { flag, valued } from '../command-words.ts';
import { programName } from '../program-name.ts';
import { quote } from '../quote.ts';
import type { AcceptCommandOptions } from './accept-options.ts';

/** Returns the same command for a shell. It passes over the events that were handled. */
export function sameCommand(file: string, options: AcceptCommandOptions): string {
  const { receiver, type, concurrency, limit, bail, account, allowForgotten, yes, json } = options;
  const words = [
    ...valued('receiver', receiver),
    ...valued('type', type),
    ...valued('concurrency', concurrency === 1 ? undefined : String(concurrency)),
    ...valued('limit', limit?.toString()),
    ...flag('bail', bail),
    ...valued('account', account),
    ...flag('allow-forgotten', allowForgotten),
    ...flag('yes', yes),
    ...flag('json', json),
  ];
  // A name that begins with a dash would be an option.
  const name = file.startsWith('-') ? `./${file}` : file;
  return [programName(), 'events', 'accept', quote(name), ...words].join(' ');
}

/**
 * The command that replays events that were parked for this reason. Those that were too old are replayed by
 * their ids only, so the command lists them.
 */
export function replayCommand(reason: string, options: ReceiverOption): string {
  return letterCommand(reason === 'event_too_old' ? 'list' : 'replay', options, reason);
}

/** The command that lists the dead letters. */
export function listCommand(options: ReceiverOption): string {
  return letterCommand('list', options);
}

type ReceiverOption = Pick<AcceptCommandOptions, 'receiver'>;

function letterCommand(verb: string, { receiver }: ReceiverOption, reason?: string): string {
  const words = [...valued('reason', reason), ...valued('receiver', receiver)];
  return [programName(), 'dead-letters', verb, ...words].join(' ');
}
