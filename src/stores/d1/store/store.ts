import type { Store } from '../../../receiver/dedupe/store.ts';
import { checkOptions, readDuration, readScope } from '../../../receiver/values/check-options.ts';
import { propertyOf } from '../../../receiver/values/foreign-values.ts';
import { limitOfServer } from '../../kit/durations.ts';
import { limitFromNow, retryInTime } from '../../kit/retry-in-time.ts';
import { ServerClock } from '../../kit/server-clock.ts';
import { createServerStore, type ServerOperation, type StoreServer } from '../../kit/server-store.ts';
import type { SqlStatement } from '../../sqlite/statement.ts';
import { CLEAN_UP, CLEANING_INTERVAL, statementsOf } from '../../sqlite/store/statements.ts';
import { checkBinding, type D1Binding, runBatch } from '../client.ts';
import { d1Failures } from '../errors.ts';

/** Options of {@link createD1Store}. */
export interface D1StoreOptions {
  /**
   * Names the application and its environment, for example `billing-production`: 1 to 64 letters, digits,
   * `.`, `_` or `-`. It is part of every key; receivers with the same scope share their ids.
   */
  readonly scope: string;
  /**
   * How long one operation may take before it counts as failed, in milliseconds; 2,000 by default. That
   * includes further tries.
   */
  readonly commandTimeoutMs?: number;
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
 * const store = createD1Store(env.DB, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey: env.SIGNING_KEY, store });
 * ```
 */
export function createD1Store(binding: D1Binding, options: D1StoreOptions): Store {
  checkBinding('createD1Store', binding);
  checkOptions(options, ['scope', 'commandTimeoutMs'], 'createD1Store');
  const { commandTimeoutMs = 2_000 } = options;
  readDuration('commandTimeoutMs', commandTimeoutMs);
  const scope = readScope('createD1Store', options.scope);
  const limitMs = limitOfServer(commandTimeoutMs);
  const clock = new ServerClock(limitMs);
  const run: StoreServer['run'] = async (operation) => {
    const limit = limitFromNow(limitMs);
    const timing = { clock, endsAt: limit.endsAt };
    const text = await retryInTime(limit, d1Failures, () => runOperation(binding, scope, operation, timing));
    return { text };
  };
  return createServerStore({ name: 'D1', commandTimeoutMs, run });
}

interface Timing {
  readonly clock: ServerClock;
  readonly endsAt: number;
}

/**
 * D1 refuses a claim as late, although it is not, if the clocks disagree. Its answer brought the time of D1,
 * so the second try is right.
 */
async function runOperation(
  binding: D1Binding,
  scope: string,
  operation: ServerOperation,
  timing: Timing,
): Promise<string> {
  const result = await runOnce(binding, scope, operation, timing);
  const last = result === 'late' ? await runOnce(binding, scope, operation, timing) : result;
  if (last === 'late') throw new Error('the operation reached D1 too late, so it did nothing');
  return last;
}

/**
 * The read comes along, because it would otherwise take a second round trip and not be in the transaction.
 */
async function runOnce(
  binding: D1Binding,
  scope: string,
  operation: ServerOperation,
  { clock, endsAt }: Timing,
): Promise<string> {
  const { write, read } = statementsOf(scope, operation, clock.latest(endsAt));
  if (read === undefined) {
    await runBatch(binding, withCleaning(write));
    return 'completed';
  }
  const [[written] = [], [found] = []] = await runBatch(binding, [write, read]);
  clock.set(Number(propertyOf(found, 'now')));
  return String(propertyOf(written ?? found, 'result'));
}

/** By chance, because an isolate may see only a few events. */
function withCleaning(completion: SqlStatement): readonly SqlStatement[] {
  return Math.random() * CLEANING_INTERVAL < 1 ? [completion, ...CLEAN_UP] : [completion];
}
