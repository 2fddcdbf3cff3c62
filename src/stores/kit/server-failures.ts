/**
 * Says of the errors of one server what follows from them. A server whose operations cannot simply be repeated
 * also says in its `errors.ts`, by `mayHaveRun(error)`, if an operation that failed may have run.
 */
export interface ServerFailures {
  /** The name of the server, for messages. */
  readonly server: string;
  /** Returns true if the same work can succeed a moment later. It may have run all the same. */
  readonly mayPass: (error: unknown) => boolean;
  /** Returns an error that says what to do. */
  readonly explain: (error: unknown) => Error;
}
