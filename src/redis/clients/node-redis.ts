import { messageOf } from '../../foreign-values.ts';
import type { ScriptClient } from './script-client.ts';

/** Runs a script, given as text or by its SHA-1. */
type Evaluate = (script: string, options: { keys: string[]; arguments: string[] }) => Promise<unknown>;

/**
 * The parts of a node-redis client that posthorn uses: one of `createClient` or `createSentinel` of
 * node-redis 5 or 6, or of `createCluster` of node-redis 6.2 or later.
 */
export interface NodeRedisClient {
  /** Commands are sent only while it is true. */
  readonly isReady: boolean;
  /** False until the application calls `connect()`, and again after `close()` or `destroy()`. */
  readonly isOpen: boolean;
  /** The hash slots of a Cluster; other clients have none. */
  readonly slots?: readonly unknown[];
  /** Runs a script by its text. */
  eval: Evaluate;
  /** Runs a script that Redis has, by its SHA-1. */
  evalSha: Evaluate;
  /** posthorn calls it, and then `connect()`, when replies and commands no longer match. */
  destroy(): unknown;
  /** Connects again after `destroy()`. */
  connect(): Promise<unknown>;
  /** Adds a listener. posthorn adds one for each of the two events, whatever the number of stores. */
  on(event: 'ready' | 'end', listener: () => void): unknown;
}

/** The refusals of a client that is closed, or offline with `disableOfflineQueue`. */
const UNSENT = ['The client is closed', 'The client is offline'];

/** Uses a client of node-redis. */
export function fromNodeRedis(client: NodeRedisClient): ScriptClient {
  const run = watchForSilence(client);
  return {
    isCluster: Array.isArray(client.slots),
    connection: {
      get isReady() {
        return client.isReady;
      },
      get isConnecting() {
        return client.isOpen && !client.isReady;
      },
      get status() {
        if (client.isReady) return 'ready';
        return client.isOpen ? 'connecting' : 'closed';
      },
      onChange: (listener) => {
        client.on('ready', listener);
        client.on('end', listener);
      },
      isUnsent: (error) => UNSENT.includes(messageOf(error)),
    },
    evaluate: (text, keys, values) => run(() => client.eval(text, toOptions(keys, values))),
    evaluateBySha1: (sha1, keys, values) => run(() => client.evalSha(sha1, toOptions(keys, values))),
    reconnect: () => void reconnect(client),
  };
}

function toOptions(
  keys: readonly string[],
  values: readonly string[],
): { keys: string[]; arguments: string[] } {
  return { keys: [...keys], arguments: [...values] };
}

/** A connection on which no reply has come for so long has vanished without a word. */
const SILENT_MS = 5_000;

/**
 * Runs commands, and begins a new connection if replies have stopped. The `socketTimeout` of node-redis does
 * not do that, because each command that is written starts it anew. The system itself gives such a connection
 * up after a quarter of an hour.
 */
function watchForSilence(client: NodeRedisClient): (send: () => Promise<unknown>) => Promise<unknown> {
  let silentSince: number | undefined;
  return async (send) => {
    const now = performance.now();
    if (silentSince !== undefined && now - silentSince > SILENT_MS && client.isReady) void reconnect(client);
    silentSince ??= now;
    try {
      return await send();
    } finally {
      silentSince = undefined;
    }
  };
}

/**
 * node-redis has no `disconnect(true)`. If it cannot connect, it stays closed, and operations fail until the
 * application has connected it.
 */
async function reconnect(client: NodeRedisClient): Promise<void> {
  try {
    await client.destroy();
    await client.connect();
  } catch {
    // The application hears of it by the client's own event `error`.
  }
}
