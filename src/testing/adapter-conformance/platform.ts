import type { Mountable } from '../../receiver-interface.ts';

/** An adapter that a server serves. */
export interface ServedAdapter {
  /** The address of deliveries, over HTTP/1.1 without TLS: `http://127.0.0.1:3000/webhooks`. */
  readonly url: string;
  /** Stops the server, and closes its connections. */
  readonly close: () => Promise<void>;
  /** Tells how many connections are open; with it, cases also check that none is left behind. */
  readonly countConnections?: (() => Promise<number>) | undefined;
}

/** Mounts a receiver with the adapter, and serves it on a port of its own until `close` is called. */
export type Serve = (receiver: Mountable) => Promise<ServedAdapter>;

/** Mounts a receiver under a path, and serves it as {@link Serve} does. The path of its `url` is not used. */
export type ServePath = (receiver: Mountable, path: string) => Promise<ServedAdapter>;

/** Options of `adapterConformance`: what the platform of the adapter cannot show. */
export interface AdapterConformanceOptions {
  /**
   * The platform joins the values of a header that was sent twice (a web `Request`, API Gateway v2). Such a
   * delivery must still be refused; only its code may be another. False by default.
   */
  readonly foldsRepeatedHeaders?: boolean | undefined;
  /**
   * The platform hands over whole bodies only (Lambda): no body is sent cut, slowly or without end. Includes
   * `hidesConnections`. False by default.
   */
  readonly wholeBodiesOnly?: boolean | undefined;
  /**
   * The server in front of the adapter keeps, closes and pipelines connections, and need not tell which
   * sender has hung up (a web `Request` and `Response`): only answers are checked. False by default.
   */
  readonly hidesConnections?: boolean | undefined;
  /**
   * Serves the adapter behind something that has read the body and kept nothing of it, such as the
   * framework's body parser. Without it, deliveries whose body is gone are not tested.
   */
  readonly serveReadBody?: Serve | undefined;
  /**
   * Serves the adapter under a path, by its own option. Without it, paths are not tested. Leave it out if the
   * framework routes.
   */
  readonly servePath?: ServePath | undefined;
}

/** The platform on which an adapter is tested. */
export interface Platform extends Required<Omit<AdapterConformanceOptions, 'serveReadBody' | 'servePath'>> {
  readonly serve: Serve;
  readonly serveReadBody: Serve | undefined;
  readonly servePath: ServePath | undefined;
}
