import { Help, Option } from 'commander';
import type { ListedStore, StoreName } from '../../stores/list.ts';
import { valued } from '../command-words.ts';
import { usageError } from '../failure.ts';
import { DEFAULT_SCHEMA, schemaOption } from '../options.ts';
import { quote } from '../quote.ts';
import type { ScopeOptions } from './store-part.ts';

/** The options that name a place in a store, by the store's name, and the scope there. */
export type PlaceOptions = Readonly<Partial<Record<StoreName, string>>> & Partial<ScopeOptions>;

/** The data that a group of commands works on, in the words of its messages and its help. */
interface Subject {
  /** With its article, such as `the dead letters`. */
  readonly name: string;
  readonly verb: 'are' | 'is';
  /** Names the data in a store, such as `dead letters`. */
  readonly stored: string;
  readonly possessive: 'their' | 'its';
  /** A place outside of the stores, for the help. */
  readonly otherPlace?: string;
}

/** A store, and its address, file or table with the data. */
interface NamedPlace {
  readonly name: StoreName;
  readonly place: string;
}

/** A place in a store, and the scope there. */
interface ChosenPlace extends NamedPlace {
  readonly options: ScopeOptions;
}

/** A store that the program can reach. */
interface Reachable extends Pick<ListedStore, 'name' | 'title'>, NonNullable<ListedStore['option']> {
  readonly flag: string;
}

/** Stands for an address with a password in a printed command. As an address it is refused. */
const SAME_ADDRESS = '<the same address>';

/** The places in stores that some commands can reach: their options, their help, and what is chosen. */
export class Places {
  readonly #subject: Subject;
  readonly #reachable: readonly Reachable[];
  readonly #servers: readonly (Reachable & NonNullable<Reachable['address']>)[];

  /** The stores without an address. */
  readonly #others: readonly Reachable[];

  /** `stores` are those that can keep the data. */
  constructor(subject: Subject, stores: readonly ListedStore[]) {
    this.#subject = subject;
    this.#reachable = stores.flatMap(({ option, ...store }) =>
      option === undefined ? [] : [{ ...store, ...option, flag: `--${store.name}` }],
    );
    this.#servers = this.#reachable.flatMap(({ address, ...store }) =>
      address === undefined ? [] : [{ ...store, ...address }],
    );
    this.#others = this.#reachable.filter(({ address }) => address === undefined);
  }

  /** Lists, for an error, the variable or the option of each store. */
  get names(): string {
    return inOneList(
      this.#reachable.map(({ address, flag }) => address?.variable ?? flag),
      'or',
    );
  }

  /** Says in the help of a command how to name the place. */
  get help(): string {
    const { name, verb, otherPlace } = this.#subject;
    const byScope = this.#servers.map(({ title, variable, remark }) =>
      remark === undefined ? `a ${title} at ${variable}` : `a ${title} at ${variable} (${remark})`,
    );
    const byOption = this.#others.map(({ flag, value }) => `${flag} ${value.toUpperCase()}`);
    const remarks = this.#others.flatMap(({ title, remark }) => (remark ? [`For ${title} ${remark}.`] : []));
    const first = otherPlace === undefined ? '' : `${otherPlace}, `;
    const places =
      `Where ${name} ${verb}: ${first}--scope SCOPE for ${inOneList(byScope, 'or')}, ` +
      `--scope with ${inOneList(byOption, 'or')}, or --receiver MODULE for ${name} of a receiver.`;
    return new Help().boxWrap([places, ...remarks].join(' '), 120);
  }

  /** Says how to give the address of a server. */
  get addressComplaint(): string {
    const addresses = this.#servers.map(({ variable, flag, begins }, index) => {
      // Only the first part of the sentence needs the verb.
      const verb = index === 0 ? 'must begin ' : '';
      return `${variable} or ${flag} ${verb}with ${begins}`;
    });
    return `the address of ${this.#subject.name} is missing or wrong: ${addresses.join(', ')}`;
  }

  /** The options that name a place in a store, and the scope there. */
  options(): readonly Option[] {
    const { stored, possessive } = this.#subject;
    const titles = this.#reachable.map(({ title }) => title);
    return [
      new Option('--scope <scope>', `${stored} in ${inOneList(titles, 'or')}: ${possessive} scope`),
      ...this.#reachable.flatMap(
        ({ flag, title, value, noun, address, variable = address?.variable, hasSchema }) => {
          const source = variable === undefined ? '' : ` (env: ${variable})`;
          const description = `the ${noun} of ${title}, together with --scope${source}`;
          return [new Option(`${flag} <${value}>`, description), ...(hasSchema ? [schemaOption()] : [])];
        },
      ),
    ];
  }

  /** Returns the place that the options choose; undefined if they choose none. */
  chosenBy(options: PlaceOptions): ChosenPlace | undefined {
    const { scope, schema } = options;
    const named = this.#namedBy(options);
    if (scope === undefined && named === undefined) return undefined;
    if (scope === undefined) throw usageError(`the scope of ${this.#subject.name} is missing: give --scope`);
    return { ...(named ?? this.#inEnvironment()), options: { scope, ...(schema && { schema }) } };
  }

  /** Returns the options as words of a shell. An address with a password is not repeated. */
  wordsOf(options: PlaceOptions): readonly string[] {
    const { scope, schema } = options;
    const named = this.#namedBy(options);
    return [
      ...valued('scope', scope),
      ...(named === undefined ? [] : [`--${named.name}`, this.#wordOf(named)]),
      ...valued('schema', schema === DEFAULT_SCHEMA ? undefined : schema),
    ];
  }

  #namedBy(options: PlaceOptions): NamedPlace | undefined {
    const [found, other] = this.#reachable.flatMap(({ name }) => {
      const place = options[name];
      return place === undefined ? [] : [{ name, place }];
    });
    if (other === undefined) return found;
    const flags = inOneList(
      this.#reachable.map(({ flag }) => flag),
      'and',
    );
    throw usageError(`give one of ${flags}: ${this.inOnePlace}`);
  }

  /** Returns the server whose address is in the environment. */
  #inEnvironment(): NamedPlace {
    const [found, other] = this.#servers.flatMap((server) => {
      const place = process.env[server.variable];
      return place === undefined ? [] : [{ ...server, place }];
    });
    if (found === undefined) {
      const flags = this.#others.map(({ flag }) => flag);
      throw usageError(`${this.addressComplaint}; or give ${inOneList(flags, 'or')}`);
    }
    if (other === undefined) return found;
    throw usageError(
      `both ${found.title} and ${other.title} are named, but ${this.inOnePlace}: ` +
        `give ${found.flag} or ${other.flag}`,
    );
  }

  /** Says, for an error, why two places are too many. */
  get inOnePlace(): string {
    return `${this.#subject.name} ${this.#subject.verb} in one place`;
  }

  #wordOf({ name, place }: NamedPlace): string {
    const variable = this.#servers.find((server) => server.name === name)?.variable;
    if (variable === undefined || !hasPassword(place)) return quote(place);
    return process.env[variable] === place ? `"$${variable}"` : quote(SAME_ADDRESS);
  }
}

/** A text that is not a URL may hold a password too, which some clients accept. */
function hasPassword(address: string): boolean {
  if (!URL.canParse(address)) return true;
  const { password, searchParams } = new URL(address);
  return password !== '' || searchParams.has('password');
}

/** Joins words as in `a, b or c`. */
function inOneList(words: readonly string[], conjunction: 'and' | 'or'): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${conjunction} ${last}`;
}
