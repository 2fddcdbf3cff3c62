/** One promise of an interface; `run` rejects where an implementation breaks it. */
export interface ConformanceCase {
  /** What is promised: a title for a test. */
  readonly name: string;
  /** Resolves if the promise is kept. */
  readonly run: () => Promise<void>;
}
