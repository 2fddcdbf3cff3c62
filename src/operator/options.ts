import { readPath } from '../../adapters/served-path.ts';
import { checkFunction } from '../receiver/checks/called-functions.ts';
import { checkOptions, invalidOption } from '../receiver/checks/check-options.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import type { Awaitable } from '../receiver/timing/awaitable.ts';
import { show } from '../receiver/values/foreign-values.ts';
import { isOrigin } from './access/origin.ts';
import type { EntryFilter } from './events/entry-filter.ts';
import type { LetterSelection } from './letters/selection.ts';

/** Somebody who may use the interface. */
export interface OperatorIdentity {
  /** The name that `audit` and the log get. */
  readonly name: string;
  /** True if the bodies and the headers of events are shown; false by default. */
  readonly bodies?: boolean | undefined;
}

/** A deed that an operator asks for. */
export interface OperatorDeed {
  /** The name that `authorize` gave. */
  readonly by: string;
  /** A replay or a drop of dead letters, or a rerun of events of the journal. */
  readonly deed: 'replay' | 'drop' | 'rerun';
  /** The ids of the dead letters, or the keys of the events: 20 at most. The deed is done to no other. */
  readonly ids: readonly string[];
  /** The selection that they belong to, unless the operator named them. */
  readonly selection?: LetterSelection | EntryFilter | undefined;
  /** The name of the receiver, if it has one. */
  readonly receiver?: string | undefined;
  /** The handlers that run again, and the name and the reason of the rerun. */
  readonly rerun?:
    | { readonly handlers: readonly string[]; readonly run: string; readonly reason?: string | undefined }
    | undefined;
}

/** The content of an event that operators with `bodies` see. */
export interface EventContent {
  /** The id of the dead letter, or the key of the event. */
  readonly id: string;
  /** The type of the event; a body that could not be read has none. */
  readonly type?: string | undefined;
  /** The body as it was signed. Bytes that are not UTF-8 are replaced by U+FFFD. */
  readonly body: string;
  /** The headers without credentials, by their names in lower case. */
  readonly headers: { readonly [name: string]: readonly string[] };
}

/** Options of `toOperator` and `toNodeOperator`. */
export interface OperatorOptions<Context extends readonly unknown[] = []> {
  /**
   * The whole path of the page, such as `/operator`, encoded as in a URL. The interface is below it.
   */
  readonly path: string;
  /**
   * Says who sends a request: returns their name, or nothing if they may not use the interface. It is asked
   * for each request. What it throws, and a promise that takes longer than 5 seconds, counts as nothing. The
   * answer is then 403. `toNodeOperator` gives it the request of Node.js too, which a session middleware has
   * extended.
   */
  readonly authorize: (
    request: Request,
    ...context: Context
  ) => Awaitable<OperatorIdentity | undefined | null | false>;
  /**
   * The function gets each deed before it is done. If it throws, or takes longer than 5 seconds, nothing is
   * done and the answer is 503.
   */
  readonly audit?: ((deed: OperatorDeed) => unknown) | undefined;
  /**
   * The origin that browsers show, such as `https://backoffice.example.com`, if it is not that of the `Host`
   * header: a proxy may send another one.
   */
  readonly origin?: string | undefined;
  /**
   * Hides parts of events from operators with `bodies`: returns what they see of the body and the headers. If
   * it throws, or takes longer than 5 seconds, nothing of the event is shown and the answer is 500.
   */
  readonly mask?: ((content: EventContent) => Awaitable<Pick<EventContent, 'body' | 'headers'>>) | undefined;
}

/** The names of all options. */
export const operatorOptionNames = ['path', 'authorize', 'audit', 'origin', 'mask'] as const;

/** Checks the options, and returns them with the path in its usual form. Throws ConfigurationError. */
export function readOperatorOptions<Context extends readonly unknown[]>(
  functionName: string,
  options: OperatorOptions<Context>,
): OperatorOptions<Context> {
  checkOptions(options, operatorOptionNames, functionName);
  const { audit, authorize, mask, origin, path } = options;
  if (authorize === undefined)
    throw new ConfigurationError(
      `${functionName} needs the option authorize, a function that says who sends a request: without it ` +
        'anybody could replay and drop events',
    );
  checkFunction(authorize, 'authorize');
  if (audit !== undefined) checkFunction(audit, 'audit');
  if (mask !== undefined) checkFunction(mask, 'mask');
  if (origin !== undefined) checkOrigin(origin);
  // They may be methods of a class, which a spread would leave out.
  return {
    path: readPath(path),
    authorize: authorize.bind(options),
    audit: audit?.bind(options),
    origin,
    mask: mask?.bind(options),
  };
}

function checkOrigin(origin: unknown): void {
  if (!isOrigin(origin))
    throw invalidOption(
      'origin',
      `must be an origin without a path, such as "https://backoffice.example.com"; got ${show(origin)}`,
    );
}
