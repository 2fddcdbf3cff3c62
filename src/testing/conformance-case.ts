/** One promise of an interface; `run` rejects if an implementation breaks it. */
export interface ConformanceCase {
  /** The promise, as a title for a test. */
  readonly name: string;
  /** Resolves if the promise is kept. */
  readonly run: () => Promise<void>;
}
