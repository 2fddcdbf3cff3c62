import { messageOf } from '../../receiver/values/foreign-values.ts';
import { CommandError } from '../failure.ts';

/** The error of a connection that has failed: the server is away, or it has refused the connection. */
export function connectionError(
  server: string,
  cause: unknown,
  isRefused: boolean,
  reason: string = messageOf(cause),
): CommandError {
  if (!isRefused) return new CommandError('unreachable', `${server} cannot be reached: ${reason}`, { cause });
  const wayOut = 'correct the database, the user or the password in the address';
  return new CommandError('failed', `${server} refuses the connection: ${reason}; ${wayOut}`, { cause });
}
