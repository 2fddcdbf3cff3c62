import { invalidOption } from '../checks/check-options.ts';
import { ConfigurationError } from '../errors.ts';
import { show } from '../values/foreign-values.ts';
import { entityOf } from './event-types.ts';
import { isPatternForm, matchesPattern } from './pattern.ts';
import { OTHER, type TypeFilter, type TypeLabels, type TypeRules } from './type-rules.ts';

/** The rules for a provider without a list of types: a pattern is any text of the right form. */
export class AnyTypes implements TypeRules {
  readonly #provider: string;

  constructor(provider: string) {
    this.#provider = provider;
  }

  has(): boolean {
    return false;
  }

  checkPattern(pattern: unknown): void {
    if (isPatternForm(pattern)) return;
    const dotted = typeof pattern === 'string' ? pattern.trim().replaceAll(/[\s/]+/g, '.') : '';
    const question = isPatternForm(dotted) ? ` Did you mean ${show(dotted)}?` : '';
    throw new ConfigurationError(
      `${show(pattern)} is not a pattern.${question} A pattern is "*", a type, or a prefix with ".*" behind it; ` +
        'a type has 1 to 255 characters without white space, "/" and "*"',
    );
  }

  checkEntity(): void {
    throw invalidOption('schemas', this.#needsList());
  }

  toFilters(): TypeFilter[] {
    throw new ConfigurationError(`eventFilters() ${this.#needsList()}`);
  }

  labelsOf(type: string, patterns: readonly string[]): TypeLabels {
    const matching = patterns
      .filter((pattern) => pattern !== '*' && matchesPattern(pattern, type))
      .toSorted((a, b) => b.length - a.length);
    const [longest = OTHER] = matching.includes(type) ? [type] : matching;
    return { type: longest, entity: entityOf(longest) };
  }

  #needsList(): string {
    return `belongs to a provider with a list of types, and ${show(this.#provider)} does not have one`;
  }
}
