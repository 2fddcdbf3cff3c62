import { messageOf } from '../../../receiver/values/foreign-values.ts';
import type { ClientConnection } from '../../kit/readiness.ts';
import { absenceOf } from '../errors.ts';
import { bypassAutoPipelining, type Evaluate } from './auto-pipelining.ts';
import type { ScriptClient } from './script-client.ts';

/**
 * The parts of an ioredis client that posthorn uses. It is a `Redis` (also through
 * Sentinel) or a `Cluster` of ioredis 5 or 6.
 */
export interface IoredisClient {
  /** Commands are sent only while it is `ready`. */
  readonly status: string;
  /** True for `Cluster`. */
  readonly isCluster?: boolean;
  /** The options of ioredis; posthorn reads `enableAutoPipelining`. */
  readonly options?: object | undefined;
  /** Runs a script by its text. */
  eval: Evaluate;
  /** Runs a script that Redis has, by its SHA-1. */
  evalsha: Evaluate;
  /**
   * Creates commands that bypass auto-pipelining. An object that wraps a client with `enableAutoPipelining`
   * should pass on both this method and `options`.
   */
  createBuiltinCommand?(name: string): { readonly string: Evaluate };
  /** posthorn calls it with true, to reconnect, when replies and commands no longer match. */
  disconnect(reconnect: boolean): void;
  /**
   * Adds a listener. posthorn adds one for each of the two events, whatever the number of stores. An object
   * that wraps a client should pass it on: without it no operation waits for the connection.
   */
  on?(event: 'ready' | 'end', listener: () => void): unknown;
}

/**
 * The states of ioredis that lead to `ready`; `wait` and `end` last until the application calls `connect()`.
 */
const CONNECTING = new Set(['connecting', 'connect', 'close', 'reconnecting', 'disconnecting']);

/** The parts of a client that say whether it is connected. */
export type IoredisConnection = Pick<IoredisClient, 'status' | 'on'>;

/** The connection of a client of ioredis. */
export function connectionOfIoredis(client: IoredisConnection): ClientConnection {
  return {
    get isReady() {
      return client.status === 'ready';
    },
    get isConnecting() {
      return CONNECTING.has(client.status) && typeof client.on === 'function';
    },
    get absenceMessage() {
      return absenceOf(client.status);
    },
    onChange: (listener) => {
      client.on?.('ready', listener);
      client.on?.('end', listener);
    },
    // A client is `ready` for a moment longer than its connection lasts. With `enableOfflineQueue: false` it
    // refuses commands then.
    maySendAgain: (error) => messageOf(error).startsWith("Stream isn't writeable"),
  };
}

/** Uses a client of ioredis. */
export function fromIoredis(client: IoredisClient): ScriptClient {
  const commands = bypassAutoPipelining(client);
  return {
    isCluster: client.isCluster === true,
    connection: connectionOfIoredis(client),
    evaluate: (text, keys, values) => commands.eval(text, keys.length, ...keys, ...values),
    evaluateBySha1: (sha1, keys, values) => commands.evalsha(sha1, keys.length, ...keys, ...values),
    reconnect: () => client.disconnect(true),
  };
}
