import type { Command } from 'commander';
import type { DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import type { Journal } from '../../receiver/journal/journal.ts';

/** A scope, and for PostgreSQL the schema of its tables. */
export interface ScopeOptions {
  readonly scope: string;
  readonly schema?: string;
}

/** Opens a part of a store at a place for as long as `use` takes. */
type Open<Part> = (place: string, options: ScopeOptions, use: (part: Part) => Promise<void>) => Promise<void>;

/** The program's part of a store. Its members belong to fields of the list of stores. */
export interface StorePart {
  /** For a store with a `migration`: adds the command `posthorn <name>`. */
  readonly addCommand?: (program: Command) => void;
  /** For a store with an `option`. */
  readonly withDeadLetters?: Open<DeadLetters>;
  /** For a store with an `option` and a `journal`. */
  readonly withJournal?: Open<Journal>;
}
