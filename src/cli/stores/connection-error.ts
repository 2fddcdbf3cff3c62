import { messageOf } from '../../receiver/values/foreign-values.ts';
import { CommandError, codeOf, usageError } from '../failure.ts';

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

/** The error of a client that could not read its address. The message does not quote it. */
export function addressError(sources: string, error: unknown): unknown {
  if (codeOf(error) !== 'ERR_INVALID_URL') return error;
  return usageError(
    `the address in ${sources} is not a URL: in its user and its password write / as %2F, ? as %3F, # as %23, ` +
      '@ as %40, : as %3A and % as %25',
  );
}
