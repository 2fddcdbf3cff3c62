import { invalidOption } from '../checks/check-options.ts';
import { ConfigurationError } from '../errors.ts';
import { show } from '../values/foreign-values.ts';
import { entityOf } from './event-types.ts';
import { nearestOf } from './nearest.ts';
import { matchesPattern } from './pattern.ts';
import { OTHER, type TypeFilter, type TypeLabels, type TypeRules } from './type-rules.ts';

/** The rules for a provider that lists the types of its sender. */
export class TypeList implements TypeRules {
  readonly #types: readonly string[];
  /** The labels of each type. */
  readonly #labels: ReadonlyMap<string, TypeLabels>;
  readonly #byEntity = new Map<string, string[]>();

  constructor(types: readonly string[]) {
    this.#types = types;
    this.#labels = new Map(types.map((type) => [type, { type, entity: entityOf(type) }]));
    for (const type of types) {
      const entity = entityOf(type);
      const known = this.#byEntity.get(entity) ?? [];
      known.push(type.slice(entity.length + 1));
      this.#byEntity.set(entity, known);
    }
  }

  has(type: string): boolean {
    return this.#labels.has(type);
  }

  get types(): readonly string[] {
    return this.#types;
  }

  checkEntity(entity: string): void {
    if (this.#byEntity.has(entity)) return;
    const entities = [...this.#byEntity.keys()].join(', ');
    throw invalidOption(`schemas.${entity}`, `is not an entity; the entities are ${entities}`);
  }

  labelsOf(type: string): TypeLabels {
    const entity = entityOf(type);
    return this.#labels.get(type) ?? { type: OTHER, entity: this.#byEntity.has(entity) ? entity : OTHER };
  }

  checkPattern(pattern: unknown): void {
    if (!this.isPattern(pattern))
      throw this.wrongPattern(pattern, 'Types that are not in this list yet reach "*" and onUnhandled()');
  }

  /** Returns true for a pattern that matches a type of the list. */
  isPattern(value: unknown): value is string {
    return typeof value === 'string' && this.#types.some((type) => matchesPattern(value, type));
  }

  /**
   * Creates the error for a value that is not a pattern. `ofNewTypes` says how types outside the list are
   * treated.
   */
  wrongPattern(value: unknown, ofNewTypes: string): ConfigurationError {
    const nearest = typeof value === 'string' ? this.nearestPattern(value) : undefined;
    const question = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
    const [first = ''] = this.#types;
    return new ConfigurationError(
      `${show(value)} matches no event type.${question} A pattern is "*", a type such as "${first}", or a ` +
        `prefix such as "${entityOf(first)}.*"; the types are ${this.#types.join(', ')}. ${ofNewTypes}`,
    );
  }

  /** The pattern that was probably meant by a misspelt one; undefined if none is near. */
  nearestPattern(misspelt: string): string | undefined {
    const prefixes = this.#types.flatMap((type) => {
      const segments = type.split('.').slice(0, -1);
      return segments.map((_, index) => `${segments.slice(0, index + 1).join('.')}.*`);
    });
    const patterns = [...this.#types, ...new Set(prefixes)];
    // A longer text is not near to any pattern, and takes long to compare.
    if (misspelt.length > 2 * Math.max(...patterns.map(({ length }) => length))) return undefined;
    const { text, distance } = nearestOf(misspelt, patterns);
    return distance <= text.length / 5 ? text : undefined;
  }

  /** The type that is nearest to a text, at any distance. */
  nearestType(text: string): string {
    return nearestOf(text, this.#types).text;
  }

  /**
   * Turns patterns into filters of the sender: an empty list means every event. Each type is named, because
   * for the sender an empty list of types need not mean all of an entity.
   */
  toFilters(patterns: readonly string[]): TypeFilter[] {
    if (patterns.includes('*')) return [];
    const isWanted = (type: string): boolean => patterns.some((pattern) => matchesPattern(pattern, type));
    const filters = Array.from(this.#byEntity, ([entity, types]) => ({
      entity,
      types: types.filter((type) => isWanted(`${entity}.${type}`)),
    }));
    return filters.filter(({ types }) => types.length > 0);
  }
}
