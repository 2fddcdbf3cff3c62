import type { Answer } from './answer.ts';
import type { Guard } from './authentication.ts';

/** What a handler is told of a request. */
export interface SandboxRequest {
  /** The value of the path's parameter, decoded; empty if the path has none. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** The address below which the paths of the service lie. */
  readonly baseAddress: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** What the body says; undefined for GET. */
  readonly body: unknown;
}

export type Handler = (request: SandboxRequest) => Answer | Promise<Answer>;

/** The handlers of one path. */
export interface Endpoint {
  /** With one parameter at most, as `{name}`. */
  readonly path: string;
  /** Asked first, whatever the method: no stranger learns more than that. */
  readonly guard?: Guard;
  /** Answers HEAD too. */
  readonly get?: Handler;
  readonly post?: Handler;
  readonly put?: Handler;
}
