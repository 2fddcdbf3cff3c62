import type { Answer } from './answer.ts';
import type { Guard } from './authentication.ts';

/** The parts of a request that a handler gets. */
export interface SandboxRequest {
  /** The value of the path's parameter, decoded; empty if the path has none. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** The base address of the service's paths. */
  readonly baseAddress: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** The parsed body; undefined for GET. */
  readonly body: unknown;
}

export type Handler = (request: SandboxRequest) => Answer | Promise<Answer>;

/** The handlers of one path. */
export interface Endpoint {
  /** With one parameter at most, as `{name}`. */
  readonly path: string;
  /** Checked first, for every method: a stranger learns nothing else. */
  readonly guard?: Guard;
  /** Answers HEAD as well. */
  readonly get?: Handler;
  readonly post?: Handler;
  readonly put?: Handler;
}
