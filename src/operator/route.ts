import type * as z from 'zod';
import type { DeadLetters } from '../receiver/dead-letters/dead-letters.ts';
import type { Journal } from '../receiver/journal/journal.ts';
import type { OperatedReceiver } from './operated-receiver.ts';
import type { OperatorIdentity, OperatorOptions } from './options.ts';
import { Problem } from './problem.ts';

/** A request of an operator to a route. */
export interface OperatorCall {
  readonly operated: OperatedReceiver;
  readonly receivers: readonly OperatedReceiver[];
  readonly identity: OperatorIdentity;
  readonly options: Pick<OperatorOptions, 'path' | 'audit' | 'mask'>;
  /** The decoded last part of the path, if the route has a parameter. */
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
  /** The parsed body of a POST. */
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/** A route as it is declared: the schemas of its request and of its answer are also its documentation. */
interface RouteParts<Query, Body> {
  readonly method: 'GET' | 'POST';
  /** Below the path of the mount. It may end with the parameter `{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly query: z.ZodType<Query>;
  readonly body?: z.ZodType<Body> | undefined;
  readonly answer: z.ZodType;
  /** True if it is about all receivers, so that none has to be named. */
  readonly isOfAll?: boolean | undefined;
  readonly handle: (call: OperatorCall, query: Query, body: Body) => object | Promise<object>;
}

/** A route that checks what it gets. */
export interface Route extends Omit<RouteParts<unknown, unknown>, 'handle'> {
  readonly handle: (call: OperatorCall) => Promise<object>;
}

/** A route that reads. */
export function get<Query>(parts: Omit<RouteParts<Query, undefined>, 'method' | 'body'>): Route {
  return {
    ...parts,
    method: 'GET',
    handle: async (call) => parts.handle(call, parse(parts.query, call.query, 'the query'), undefined),
  };
}

/** A route that does something. */
export function post<Body>(
  parts: Omit<RouteParts<unknown, Body>, 'method' | 'body'> & { readonly body: z.ZodType<Body> },
): Route {
  return {
    ...parts,
    method: 'POST',
    handle: async (call) =>
      parts.handle(
        call,
        parse(parts.query, call.query, 'the query'),
        parse(parts.body, call.body, 'the body'),
      ),
  };
}

/** The most problems of a request that an answer names. */
const MOST_NAMED = 10;

/** Parses a body or a query by its schema. Throws a {@link Problem} that names wrong members. */
function parse<T>(schema: z.ZodType<T>, value: unknown, name: string): T {
  const { data, error, success } = schema.safeParse(value);
  if (success) return data;
  const named = error.issues.slice(0, MOST_NAMED);
  const problems = named.map(({ message, path }) => `${path.join('.') || name}: ${message}`);
  throw new Problem('request_invalid', problems.join('; '));
}

/** The dead letters of the receiver that is asked for. Throws a {@link Problem} if it has none. */
export function deadLettersOf({ operated }: OperatorCall): DeadLetters {
  const { deadLetters } = operated.receiver;
  if (deadLetters !== undefined) return deadLetters;
  throw new Problem(
    'dead_letters_missing',
    'the receiver has no dead letters: give createReceiver the option deadLetters',
  );
}

/** The journal of the receiver that is asked for. Throws a {@link Problem} if it has none. */
export function journalOf({ operated }: OperatorCall): Journal {
  const { journal } = operated.receiver.settings;
  if (journal !== undefined) return journal;
  throw new Problem('journal_missing', 'the receiver has no journal: give createReceiver the option journal');
}
