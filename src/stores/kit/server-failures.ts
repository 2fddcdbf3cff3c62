/** Says of the errors of one server what follows from them. */
export interface ServerFailures {
  /** The name of the server, for messages. */
  readonly server: string;
  /** Returns true if the same work can succeed a moment later. It may have run all the same. */
  readonly mayPass: (error: unknown) => boolean;
  /** Returns an error that says what to do. */
  readonly explain: (error: unknown) => Error;
}
