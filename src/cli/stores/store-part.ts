import type { Command } from 'commander';
import type { DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';

/** The dead letters of a scope, and for PostgreSQL the schema of its tables. */
export interface LettersOptions {
  readonly scope: string;
  readonly schema?: string;
}

/** The program's part of a store. Both members belong to fields of the list of stores. */
export interface StorePart {
  /** For a store with a `migration`: adds the command `posthorn <name>`. */
  readonly addCommand?: (program: Command) => void;
  /** For a store with an `option`: opens the dead letters at its value for as long as `use` takes. */
  readonly withDeadLetters?: (
    place: string,
    options: LettersOptions,
    use: (deadLetters: DeadLetters) => Promise<void>,
  ) => Promise<void>;
}
