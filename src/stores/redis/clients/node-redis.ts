import { performance } from '../../../receiver/timing/process-clock.ts';
import { setUnrefTimeout } from '../../../receiver/timing/unref-timeout.ts';
import { propertyOf } from '../../../receiver/values/foreign-values.ts';
import { type ClientConnection, NotConnectedError } from '../../kit/readiness.ts';
import { absenceOf } from '../errors.ts';
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
  /** False until the application calls `connect()`, and again from `close()` or `destroy()` on. */
  readonly isOpen: boolean;
  /** The hash slots of a Cluster; other clients have none. */
  readonly slots?: readonly unknown[];
  /** posthorn does not call it, but knows a Sentinel by it. */
  getMasterNode?(): unknown;
  /** Runs a script by its text. */
  eval: Evaluate;
  /** Runs a script that Redis has, by its SHA-1. */
  evalSha: Evaluate;
  /** posthorn calls it, and then `connect()`, when replies and commands no longer match, or replies stop. */
  destroy(): unknown;
  /** Connects again after `destroy()`. */
  connect(): Promise<unknown>;
  /** Adds a listener. posthorn adds one for each of the two events, whatever the number of stores. */
  on(event: 'ready' | 'end', listener: () => void): unknown;
}

/** Uses a client of node-redis. */
export function fromNodeRedis(client: NodeRedisClient): ScriptClient {
  const connection = new NodeRedisConnection(client);
  const isCluster = Array.isArray(client.slots);
  const isSentinel = typeof client.getMasterNode === 'function';
  const run = watchForSilence(connection, isCluster || isSentinel ? FAILOVER_MS : SILENT_MS);
  return {
    isCluster,
    connection,
    evaluate: (text, keys, values) => run(() => client.eval(text, toOptions(keys, values))),
    evaluateBySha1: (sha1, keys, values) => run(() => client.evalSha(sha1, toOptions(keys, values))),
    reconnect: () => connection.reconnect(),
  };
}

/** The refusals of a client that is closed, or offline with `disableOfflineQueue`. */
const UNSENT: ReadonlySet<unknown> = new Set(['The client is closed', 'The client is offline']);

function toOptions(
  keys: readonly string[],
  values: readonly string[],
): { keys: string[]; arguments: string[] } {
  return { keys: [...keys], arguments: [...values] };
}

const RETRY_PAUSE_MS = 1_000;

/** The connection of a client, and the way to a new one: node-redis has no `disconnect(true)`. */
class NodeRedisConnection implements ClientConnection {
  readonly #client: NodeRedisClient;
  #isReconnecting = false;

  constructor(client: NodeRedisClient) {
    this.#client = client;
  }

  /** A client that is closing stays `isReady` until its last reply. */
  get isReady(): boolean {
    return this.#client.isOpen && this.#client.isReady;
  }

  get isConnecting(): boolean {
    return this.#isReconnecting || (this.#client.isOpen && !this.#client.isReady);
  }

  get absenceMessage(): string {
    if (this.isReady) return absenceOf('ready');
    return absenceOf(this.isConnecting ? 'connecting' : 'closed');
  }

  onChange(listener: () => void): void {
    this.#client.on('ready', listener);
    this.#client.on('end', listener);
  }

  maySendAgain(error: unknown): boolean {
    return UNSENT.has(propertyOf(error, 'message'));
  }

  /** Begins a new connection, unless one is under way or the application has closed the client. */
  reconnect(): void {
    if (this.#isReconnecting || !this.isReady) return;
    this.#isReconnecting = true;
    void this.#connectAnew();
  }

  /**
   * A Sentinel or a Cluster gives `connect()` up, and closes, if it finds no server. Without a further try
   * the process would be without its store although the servers are back. A client that the
   * application closes meanwhile is opened once more.
   */
  async #connectAnew(): Promise<void> {
    try {
      await this.#client.destroy();
    } catch {
      // The client is closed already.
    }
    while (!this.#client.isOpen) {
      try {
        await this.#client.connect();
      } catch {
        await new Promise<void>((resolve) => setUnrefTimeout(resolve, RETRY_PAUSE_MS));
      }
    }
    this.#isReconnecting = false;
  }
}

/** A connection on which no reply has come for so long is taken for one whose peer has gone. */
const SILENT_MS = 5_000;

/** A Sentinel or a Cluster answers nothing while it has no master, and finds the next one by itself. */
const FAILOVER_MS = 60_000;

/** Errors that a client makes by itself: they say nothing about the connection. The last is of a time-out. */
const OWN_ERRORS: ReadonlySet<unknown> = new Set(['The queue is full', 'The command was aborted', '']);

/**
 * Runs commands, and begins a new connection if replies have stopped. The `socketTimeout` of node-redis does
 * not do that while commands are written, because each of them starts it anew. The system itself gives such a
 * connection up after a quarter of an hour. In a Cluster, and with a `masterPoolSize`, the replies on other
 * connections hide the one that is lost: its operations fail until then.
 */
function watchForSilence(
  connection: NodeRedisConnection,
  silentMs: number,
): (send: () => Promise<unknown>) => Promise<unknown> {
  let silentSince: number | undefined;
  return async (send) => {
    const now = performance.now();
    if (silentSince !== undefined && now - silentSince > silentMs) {
      silentSince = undefined;
      connection.reconnect();
      throw new NotConnectedError(absenceOf('connecting'));
    }
    silentSince ??= now;
    try {
      const reply = await send();
      silentSince = undefined;
      return reply;
    } catch (error) {
      if (!OWN_ERRORS.has(propertyOf(error, 'message'))) silentSince = undefined;
      throw error;
    }
  };
}
