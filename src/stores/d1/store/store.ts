import type { Store } from '../../../receiver/dedupe/store.ts';
import { limitOfServer } from '../../kit/durations.ts';
import { readServerOptions } from '../../kit/server-options.ts';
import { createServerStore } from '../../kit/server-store.ts';
import { checkBinding, type D1Binding } from '../client.ts';
import { D1Connection } from '../connection.ts';
import { D1Operations } from './operations.ts';

/** Options of {@link createD1Store}. */
export interface D1StoreOptions {
  /**
   * Names the application and its environment, for example `billing-production`: 1 to 64 letters, digits,
   * `.`, `_` or `-`. It is part of every key; receivers with the same scope share their ids.
   */
  readonly scope: string;
  /**
   * The time after which an operation counts as failed, in milliseconds; 2,000 by default. That
   * includes further tries.
   */
  readonly commandTimeoutMs?: number | undefined;
}

/**
 * Keeps event ids in D1, the SQLite of Cloudflare, which all isolates of a Worker share. `d1Migration` has
 * its tables. An operation is one round trip. One that fails in a way that passes is tried again until its
 * time is over. It rejects with UnavailableError (`store_unavailable`) if D1 refuses it or does not answer;
 * the message says what to do. Expired ids are deleted in small batches, now and then with a completion.
 *
 * @throws ConfigurationError if the binding is not a D1 database, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { createD1Store } from 'posthorn/d1';
 *
 * const store = createD1Store(env.DB, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey: env.SIGNING_KEY, store });
 * ```
 */
export function createD1Store(binding: D1Binding, options: D1StoreOptions): Store {
  checkBinding('createD1Store', binding);
  const { scope, commandTimeoutMs } = readServerOptions('createD1Store', options, 2_000);
  const connection = new D1Connection(binding, limitOfServer(commandTimeoutMs));
  const operations = new D1Operations(connection, scope);
  return createServerStore({
    name: 'D1',
    commandTimeoutMs,
    run: (operation) => operations.run(operation),
  });
}
