import { nearestOf } from '../receiver/events/nearest.ts';
import { oneLine } from '../receiver/outcomes/one-line.ts';
import { stackFramesOf } from '../receiver/outcomes/stack-frames.ts';
import { isError, show, typeNameOf } from '../receiver/values/foreign-values.ts';
import { Authorization } from './access/authorize.ts';
import { checkOrigin } from './access/check-origin.ts';
import { jsonAnswer, type OperatorAnswer, problemAnswer } from './answer.ts';
import {
  type Operable,
  type OperableByName,
  type OperatedReceiver,
  readReceivers,
} from './operated-receiver.ts';
import { type OperatorIdentity, type OperatorOptions, readOperatorOptions } from './options.ts';
import { pageAnswer } from './page/files.ts';
import { Problem, toProblem } from './problem.ts';
import { type ReadBody, readJsonBody } from './request-body.ts';
import type { Route } from './route.ts';
import { routes } from './routes.ts';

/** A request, as a mount hands it over. */
export interface OperatorRequest<Context extends readonly unknown[]> {
  readonly request: Request;
  /** The path below that of the mount. */
  readonly path: string;
  readonly readBody: ReadBody;
  readonly context: Context;
}

/** Answers the requests of operators. A mount translates them. */
export class Operator<Context extends readonly unknown[]> {
  /** The path of the mount, in its usual form. */
  readonly path: string;
  readonly #receivers: readonly OperatedReceiver[];
  readonly #options: OperatorOptions<Context>;
  readonly #authorization: Authorization<Context>;

  constructor(functionName: string, receivers: Operable | OperableByName, options: OperatorOptions<Context>) {
    this.#options = readOperatorOptions(functionName, options);
    this.path = this.#options.path;
    this.#authorization = new Authorization(this.#options.authorize);
    this.#receivers = readReceivers(functionName, receivers);
  }

  /** Never rejects. */
  async answer(asked: OperatorRequest<Context>): Promise<OperatorAnswer> {
    try {
      const { context, path, request } = asked;
      const identity = await this.#authorization.identify(request, context);
      const page = pageAnswer(request.method, path, new URL(request.url).pathname);
      return page ?? jsonAnswer(await this.#handle(asked, identity));
    } catch (error) {
      const problem = toProblem(error);
      if (problem.code === 'internal_error' || problem.code === 'mask_failed') printFailure(problem);
      return problemAnswer(problem);
    }
  }

  async #handle(
    { path, readBody, request }: OperatorRequest<Context>,
    identity: OperatorIdentity,
  ): Promise<object> {
    const { id, route } = findRoute(request.method, path);
    if (route.method === 'POST') checkOrigin(request, this.#options.origin);
    const { receiver: name, ...query } = readQuery(request.url);
    const operated = this.#find(name, route);
    const body = route.method === 'POST' ? await readJsonBody(request, readBody) : undefined;
    const { signal } = request;
    return route.handle({
      operated,
      receivers: this.#receivers,
      identity,
      options: this.#options,
      id,
      query,
      body,
      signal,
    });
  }

  /** Several receivers are told apart by `receiver` in the query. */
  #find(name: string | undefined, { isOfAll = false }: Route): OperatedReceiver {
    const [first] = this.#receivers;
    const mayBeFirst = isOfAll || this.#receivers.length === 1;
    const names = this.#receivers.flatMap((each) => each.name ?? []);
    const found = name === undefined ? undefined : this.#receivers.find((each) => each.name === name);
    if (found !== undefined) return found;
    if (first !== undefined && name === undefined && mayBeFirst) return first;
    const all = `the receivers are ${names.map(show).join(', ')}`;
    if (name === undefined)
      throw new Problem('request_invalid', `say with ?receiver= which receiver: ${all}`);
    const nearest =
      names.length === 0
        ? 'it has no name'
        : `the nearest is ${show(nearestOf(name.slice(0, 100), names).text)}`;
    throw new Problem('request_invalid', `receiver: no receiver has the name ${show(name)}; ${nearest}`);
  }
}

/** The route of a path, and the value of its parameter. Throws a {@link Problem}. */
function findRoute(method: string, path: string): { readonly route: Route; readonly id: string } {
  const found = routes.flatMap((route) => {
    const id = matchPath(route.path, path);
    return id === undefined ? [] : [{ route, id }];
  });
  const asked = method === 'HEAD' ? 'GET' : method;
  const match = found.find(({ route }) => route.method === asked);
  if (match !== undefined) return match;
  if (found.length === 0) throw new Problem('not_found', `${show(path)} is not a path of the interface`);
  const allow = [...new Set(found.map(({ route }) => route.method))].join(', ');
  throw new Problem('method_not_allowed', `allowed here: ${allow}`, { headers: { allow } });
}

/** Returns the decoded parameter, or an empty text for a path without one; undefined for another path. */
function matchPath(pattern: string, path: string): string | undefined {
  const [start = '', parameter] = pattern.split('{id}');
  const asked = path.endsWith('/') ? path.slice(0, -1) : path;
  if (parameter === undefined) return asked === start ? '' : undefined;
  const id = asked.slice(start.length);
  if (!asked.startsWith(start) || id === '' || id.includes('/')) return undefined;
  try {
    return decodeURIComponent(id);
  } catch (cause) {
    throw new Problem('request_invalid', `${show(id)} in the path is not encoded as in a URL`, { cause });
  }
}

/** Throws a {@link Problem} for a name that comes twice. */
function readQuery(url: string): Record<string, string> {
  const { searchParams } = new URL(url);
  const query = Object.fromEntries(searchParams);
  if (searchParams.size === Object.keys(query).length) return query;
  throw new Problem('request_invalid', 'the query has a name twice');
}

/** Leaves out the message of a cause: an error of `mask` may quote the event, as those of JSON.parse do. */
function printFailure(problem: Problem): void {
  const { cause, message } = problem;
  const name = cause === undefined ? [] : [show(isError(cause) ? cause : typeNameOf(cause))];
  const line = [
    "posthorn: the operator's interface failed:",
    oneLine(message),
    ...name,
    ...stackFramesOf(problem),
  ];
  // biome-ignore lint/suspicious/noConsole: the operator cannot mend a defect of ours, or one of mask
  console.error(line.join(' '));
}
