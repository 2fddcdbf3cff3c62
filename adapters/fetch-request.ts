import { ConfigurationError } from '../src/errors.ts';
import { propertyOf, typeNameOf } from '../src/foreign-values.ts';
import type { RawBody } from '../src/request/raw-body.ts';

/** The part of a web Request that is used. The Request of any runtime and of any realm has it. */
export interface FetchRequest {
  readonly method: string;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body: FetchBody | null;
  readonly bodyUsed: boolean;
  readonly signal?: { readonly aborted: boolean } | undefined;
}

/** The body of a web Request, a ReadableStream. */
export interface FetchBody {
  readonly locked: boolean;
  getReader(): FetchBodyReader;
}

/** Reads a ReadableStream chunk by chunk. */
export interface FetchBodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: RawBody }>;
  cancel(reason?: unknown): Promise<void>;
}

/**
 * Throws {@link ConfigurationError} for the requests and contexts of frameworks. The body is not looked at:
 * some runtimes begin to read it then.
 */
export function checkFetchRequest(request: FetchRequest): void {
  const isRequest =
    typeof propertyOf(request, 'method') === 'string' &&
    typeof propertyOf(request, 'bodyUsed') === 'boolean' &&
    typeof propertyOf(propertyOf(request, 'headers'), Symbol.iterator) === 'function';
  if (isRequest) return;
  throw new ConfigurationError(
    'this handler takes a web Request: c.req.raw in Hono, event.request in SvelteKit, request of the context in ' +
      'Elysia. A request of Node.js goes to toExpress of posthorn/express or toNode of posthorn/node, also in ' +
      `pages/api of Next.js; got ${typeNameOf(request)}`,
  );
}
