import type { CodeOf, ErrorClass, ErrorCode } from './error-codes.ts';
import { type ReportCode, statusOfCode } from './refusals.ts';
import { isInstance, propertyOf, shorten } from './values/foreign-values.ts';

/**
 * The base of every error that posthorn throws or reports. `cause` is the underlying error, if there is one.
 */
export class PosthornError extends Error {
  /** Stable and machine-readable, for example `signature_mismatch`: branch on it, not on the message. */
  readonly code: ErrorCode;
  /**
   * The HTTP status of the answer to a delivery that fails with this code, as a receiver without dead letters
   * gives it. Use it in your own endpoint with `receiver.verify`. Undefined if no report can have the code.
   * An error of the service or of the sandbox has the status of that answer.
   */
  declare readonly status: number | undefined;

  /** Cuts a long message: it may quote a stranger, and goes into reports, dead letters and traces. */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(shorten(message), options);
    this.name = new.target.name;
    this.code = code;
    // Not enumerable, so that logs and JSON stay short. Error handlers of frameworks may assign another one.
    const value = statusOfCode(code);
    Object.defineProperty(this, 'status', { value, configurable: true, writable: true });
  }
}

/**
 * The base of the classes in the table. `PosthornError` itself has no type parameter, because `instanceof`
 * fills one in with `any`: its `code` would not be checked.
 */
export class CodedError<Class extends ErrorClass> extends PosthornError {
  declare readonly code: CodeOf<Class>;
  declare readonly status: StatusOf<Class>;

  /** Takes the codes of its class only. */
  constructor(code: CodeOf<Class>, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** A number, if a report can have every code of the class. */
type StatusOf<Class extends ErrorClass> = [CodeOf<Class>] extends [ReportCode] ? number : number | undefined;

/**
 * An option, a pattern, an argument or the place of the mount is wrong. Only a change of the program fixes
 * it.
 */
export class ConfigurationError extends CodedError<'ConfigurationError'> {
  constructor(
    message: string,
    options: ErrorOptions & { readonly code?: ConfigurationError['code'] | undefined } = {},
  ) {
    super(options.code ?? 'configuration_invalid', message, options);
  }
}

/**
 * Thrown by a handler to say that no retry can help: the event is parked at once.
 *
 * @example
 * ```ts
 * import { PermanentError } from 'posthorn';
 *
 * receiver.on('*', (event) => {
 *   if (event.data.amount === undefined) throw new PermanentError('an event without an amount');
 * });
 * ```
 */
export class PermanentError extends CodedError<'PermanentError'> {
  constructor(message: string, options?: ErrorOptions) {
    super('permanent', message, options);
  }
}

/**
 * The credentials of a delivery are missing, wrong or sent twice. The error never says which part of them.
 */
export class CredentialsError extends CodedError<'CredentialsError'> {}

/** The signature of a delivery is missing, repeated, malformed, or of another key or another body. */
export class SignatureError extends CodedError<'SignatureError'> {}

/** A delivery is not a readable POST to this path: its path, method, encoding, size or body is wrong. */
export class RequestError extends CodedError<'RequestError'> {}

/** An authentic body is not an event, or the event has the wrong age. */
export class EventError extends CodedError<'EventError'> {
  /** The id and the type, as far as they could be read. */
  readonly event: { readonly id?: string | undefined; readonly type?: string | undefined };

  constructor(code: EventError['code'], message: string, event: EventError['event'], options?: ErrorOptions) {
    super(code, message, options);
    this.event = event;
  }
}

/** The schema of an entity refused `event.data`. */
export class DataError extends CodedError<'DataError'> {
  /** The issues that the schema reported. */
  readonly issues: readonly { readonly message: string }[];

  constructor(message: string, issues: DataError['issues'], options?: ErrorOptions) {
    super('data_invalid', message, options);
    this.issues = issues;
  }

  /** Leaves out the issues: some libraries put the data into them. */
  toJSON(): ErrorAsJson {
    return toJson(this);
  }
}

/** One or more handlers threw. `cause` is the first of `errors`. */
export class HandlerError extends CodedError<'HandlerError'> {
  /** The error of each failed handler. */
  readonly errors: readonly unknown[];

  constructor(code: HandlerError['code'], message: string, errors: readonly unknown[]) {
    super(code, message, { cause: errors[0] });
    this.errors = errors;
  }

  /** Leaves out the errors of the handlers: those of many HTTP clients hold the request, and credentials. */
  toJSON(): ErrorAsJson {
    return toJson(this);
  }
}

type ErrorAsJson = Pick<PosthornError, 'name' | 'code' | 'message'>;

/** Reports are often logged as JSON, with their errors. */
function toJson({ name, code, message }: PosthornError): ErrorAsJson {
  return { name, code, message };
}

/** The event could not be handled now, or not in time. The service's next retry may succeed. */
export class UnavailableError extends CodedError<'UnavailableError'> {}

/** The reason of an aborted `context.signal`, and the error of a run that was aborted. */
export class AbortedError extends CodedError<'AbortedError'> {}

/** A worker cannot run a job: it cannot read the job, or lacks its handler. A newer worker may be able to. */
export class JobError extends CodedError<'JobError'> {}

/** A dead letter could not be written, read or listed. */
export class DeadLetterError extends CodedError<'DeadLetterError'> {}

/** A journal failed, or does not have the entry that it was asked for. */
export class JournalError extends CodedError<'JournalError'> {}

/** A bug in posthorn; please report it. */
export class InternalError extends CodedError<'InternalError'> {}

/**
 * Any error that posthorn throws, by its class. A `switch` over `code` narrows it to the class of that code,
 * and TypeScript can check that the `switch` covers every code. The codes of `posthorn/postgres`,
 * `posthorn/sqlite`, `posthorn/client` and `posthorn/sandbox` are included. For the members of those classes
 * use `instanceof`: their types stay out of programs that do not import them.
 *
 * `report.error` is not always one of them: that of a job that its queue has given up is a plain
 * `PosthornError`.
 *
 * @example
 * ```ts
 * import { type AnyPosthornError, PosthornError } from 'posthorn';
 *
 * function show(error: AnyPosthornError): string {
 *   switch (error.code) {
 *     case 'event_too_old':
 *     case 'event_in_future':
 *       return `is a clock wrong? event ${error.event.id}`; // an EventError
 *     case 'data_invalid':
 *       return error.issues.map(({ message }) => message).join(', '); // a DataError
 *     default:
 *       return `${error.code}: ${error.message}`;
 *   }
 * }
 *
 * try {
 *   await receiver.verify(body, headers);
 * } catch (error) {
 *   if (!(error instanceof PosthornError)) throw error;
 *   console.log(show(error as AnyPosthornError));
 * }
 * ```
 */
export type AnyPosthornError =
  | AbortedError
  | ConfigurationError
  | CredentialsError
  | DataError
  | DeadLetterError
  | JournalError
  | EventError
  | HandlerError
  | InternalError
  | JobError
  | PermanentError
  | RequestError
  | SignatureError
  | UnavailableError
  | CodedError<'InboxError'>
  | CodedError<'ServiceError'>
  | CodedError<'RefusedError'>;

/**
 * Makes `instanceof` recognize errors of the same class from another copy of posthorn: a process can load the
 * ESM build and the CommonJS build, or two versions, and each has its own classes. Errors of a derived class
 * inherit the mark. A derived class itself is not marked, so it recognizes its own errors only.
 */
export function brandClasses(
  classes: { readonly [Name in BrandedClass]?: abstract new (...parameters: never[]) => Error },
): void {
  for (const [name, type] of Object.entries(classes)) {
    const mark = Symbol.for(`posthorn.${name}`);
    Object.defineProperty(type.prototype, mark, { value: true });
    Object.defineProperty(type, Symbol.hasInstance, {
      value(this: unknown, value: unknown): boolean {
        if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value);
        return typeof value === 'object' && value !== null && mark in value;
      },
    });
  }
}

type BrandedClass = ErrorClass | 'PosthornError';

brandClasses({
  PosthornError,
  ConfigurationError,
  PermanentError,
  CredentialsError,
  SignatureError,
  RequestError,
  EventError,
  DataError,
  HandlerError,
  UnavailableError,
  AbortedError,
  JobError,
  DeadLetterError,
  JournalError,
  InternalError,
});

/** Returns true for an error of posthorn whose code and message can be read. */
export function isPosthornError(value: unknown): value is PosthornError {
  return (
    isInstance(value, PosthornError) &&
    typeof propertyOf(value, 'code') === 'string' &&
    typeof propertyOf(value, 'message') === 'string'
  );
}
