/** Judges the errors of one server. */
export interface FailureRules {
  /** The name of the server, for messages. */
  readonly server: string;
  /** Returns true if the same work can succeed a moment later. It may have run in spite of the error. */
  readonly isTemporary: (error: unknown) => boolean;
  /** Returns an error whose message says what to do. */
  readonly explain: (error: unknown) => Error;
}
