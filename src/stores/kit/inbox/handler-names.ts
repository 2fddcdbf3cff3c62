import { ConfigurationError } from '../../../receiver/errors.ts';

/**
 * The names of handlers that share records: those of all inboxes of a pool or connection with the same schema
 * and scope. Two pools count as two databases: nothing shows whether they lead to the same one.
 */
export class HandlerNames {
  static readonly #ofDatabases = new WeakMap<object, Map<string, HandlerNames>>();

  /** The function that was first registered under each name. */
  readonly #first = new Map<string, object>();
  readonly #shared = new Set<string>();
  readonly #ofReceivers = new WeakMap<object, Map<string, object>>();

  static of(database: object, schema: string, scope: string): HandlerNames {
    const inDatabase = HandlerNames.#ofDatabases.get(database) ?? new Map<string, HandlerNames>();
    HandlerNames.#ofDatabases.set(database, inDatabase);
    const key = JSON.stringify([schema, scope]);
    const names = inDatabase.get(key) ?? new HandlerNames();
    inDatabase.set(key, names);
    return names;
  }

  /**
   * Registers a function of a receiver under a name. Returns true, once for each name, if another receiver
   * has registered a different one. Throws {@link ConfigurationError} if the same receiver has done so.
   */
  register(name: string, handler: object, receiver: object): boolean {
    const ofReceiver = this.#ofReceivers.get(receiver) ?? new Map<string, object>();
    this.#ofReceivers.set(receiver, ofReceiver);
    if ((ofReceiver.get(name) ?? handler) !== handler) {
      throw new ConfigurationError(
        `the handler name "${name}" is taken: an inbox keeps its records by name, so each handler needs its own`,
      );
    }
    ofReceiver.set(name, handler);
    return this.#recordFunction(name, handler);
  }

  #recordFunction(name: string, handler: object): boolean {
    const first = this.#first.get(name) ?? handler;
    this.#first.set(name, first);
    if (first === handler || this.#shared.has(name)) return false;
    this.#shared.add(name);
    return true;
  }
}
