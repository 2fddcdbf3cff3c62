import { ConfigurationError } from '../receiver/errors.ts';
import { propertyOf, typeNameOf } from '../receiver/values/foreign-values.ts';
import { toResponse, UNSERVED } from './answer.ts';
import type { Operable, OperableByName } from './operated-receiver.ts';
import { Operator } from './operator.ts';
import type { OperatorOptions } from './options.ts';
import { pathBelow } from './path-below.ts';
import { readRequestBody } from './request-body.ts';

/** Answers a web Request. It hands on what follows the request to `authorize`. */
export type OperatorHandler<Context extends readonly unknown[] = []> = (
  request: Request,
  ...context: Context
) => Promise<Response>;

/**
 * Serves the page and the interface of operators by the Request and Response of the web: dead letters,
 * health, deliveries and the journal of a receiver, or of several by name. [operator.md](../operator.md)
 * describes them. It observes the receivers from now on, for the list of the last deliveries.
 *
 * @throws ConfigurationError without `authorize`, for another wrong option, and for a value that is not a
 * receiver.
 *
 * @example
 * ```ts
 * import { toOperator } from 'posthorn/operator';
 *
 * const operator = toOperator(receiver, {
 *   path: '/operator',
 *   authorize: async (request) => findOperator(request.headers.get('cookie')),
 * });
 * app.all('/operator/*', (c) => operator(c.req.raw)); // Hono
 * ```
 */
export function toOperator<Context extends readonly unknown[] = []>(
  receivers: Operable | OperableByName,
  options: OperatorOptions<Context>,
): OperatorHandler<Context> {
  const operator = new Operator('toOperator', receivers, options);
  return async (request, ...context) => {
    if (
      typeof propertyOf(request, 'url') !== 'string' ||
      typeof propertyOf(request, 'arrayBuffer') !== 'function'
    )
      throw new ConfigurationError(
        `this handler takes a web Request, and toNodeOperator one of Node.js; got ${typeNameOf(request)}`,
      );
    const path = pathBelow(operator.path, [new URL(request.url).pathname]);
    const answer =
      path === undefined
        ? UNSERVED
        : await operator.answer({ request, path, readBody: () => readRequestBody(request), context });
    return toResponse(answer, request.method);
  };
}
