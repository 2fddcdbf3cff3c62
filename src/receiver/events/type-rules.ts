/** A filter for the sender, of the types that the handlers want. */
export interface TypeFilter {
  /** The first segment of the types. */
  readonly entity: string;
  /** The rest of each wanted type. */
  readonly types: readonly string[];
}

/** The type of an event and its first segment, as metrics can have them. */
export interface TypeLabels {
  /** The type, a pattern that matches it, or `other`. */
  readonly type: string;
  /** The first segment of the type, or `other`. */
  readonly entity: string;
}

/** What follows from the types of a sender. */
export interface TypeRules {
  /** Returns true for a type of the provider's list. */
  has(type: string): boolean;
  /** Throws ConfigurationError for a value that cannot be a pattern. */
  checkPattern(pattern: unknown): void;
  /** Throws ConfigurationError unless schemas can be given for this first segment of types. */
  checkEntity(entity: string): void;
  /** The filters of the sender for some patterns. Throws ConfigurationError without a list of types. */
  toFilters(patterns: readonly string[]): TypeFilter[];
  /** The labels of a type for metrics, which are few; `patterns` are those of the handlers. */
  labelsOf(type: string, patterns: readonly string[]): TypeLabels;
}

/** The label of a type that no list and no pattern bounds. */
export const OTHER = 'other';
