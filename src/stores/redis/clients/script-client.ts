import type { ClientConnection } from '../../kit/readiness.ts';

/** A client of Redis, of any package, as the scripts use it. */
export interface ScriptClient {
  /** True if keys are on several nodes, so that a script can take only one key. */
  readonly isCluster: boolean;
  readonly connection: ClientConnection;
  /** Runs a script by its text. */
  evaluate(text: string, keys: readonly string[], values: readonly string[]): Promise<unknown>;
  /**
   * Runs a script that Redis has, by its SHA-1. If Redis does not have it, rejects with a message that begins
   * with NOSCRIPT.
   */
  evaluateBySha1(sha1: string, keys: readonly string[], values: readonly string[]): Promise<unknown>;
  /** Begins a new connection, because replies and commands no longer match on this one. */
  reconnect(): void;
}
