import { Help, Option } from 'commander';
import { type StoreName, stores } from '../../stores/list.ts';
import { usageError } from '../failure.ts';
import { DEFAULT_SCHEMA, schemaOption } from '../options.ts';
import { quote } from '../quote.ts';

/** The options of `posthorn dead-letters` that name a place in a store, by the store's name. */
export type PlaceOptions = Readonly<Partial<Record<StoreName, string>>>;

interface SchemaOfPlace {
  readonly schema?: string;
}

/** A store, and its address, file or table with the dead letters. */
export interface NamedPlace {
  readonly name: StoreName;
  readonly place: string;
}

const reachable = stores.flatMap(({ option, ...store }) =>
  option === undefined ? [] : [{ ...store, ...option, flag: `--${store.name}` }],
);
const servers = reachable.flatMap(({ address, ...store }) =>
  address === undefined ? [] : [{ ...store, ...address }],
);
const others = reachable.filter(({ address }) => address === undefined);

/** Says how to give the address of a server. */
export const ADDRESS_COMPLAINT: string = `the address of the dead letters is missing or wrong: ${servers
  .map(({ variable, flag, begins }, index) => {
    // Only the first part of the sentence needs the verb.
    const verb = index === 0 ? 'must begin ' : '';
    return `${variable} or ${flag} ${verb}with ${begins}`;
  })
  .join(', ')}`;

/** Lists, for an error, the variable or the option of each store. */
export const PLACES: string = inOneList(
  reachable.map(({ address, flag }) => address?.variable ?? flag),
  'or',
);

/** Says in the help of a command how to name the place of the dead letters. */
export const PLACES_HELP: string = describePlaces();

function describePlaces(): string {
  const byScope = servers.map(({ title, variable, remark }) =>
    remark === undefined ? `a ${title} at ${variable}` : `a ${title} at ${variable} (${remark})`,
  );
  const byOption = others.map(({ flag, value }) => `${flag} ${value.toUpperCase()}`);
  const remarks = others.flatMap(({ title, remark }) => (remark ? [`For ${title} ${remark}.`] : []));
  const places =
    `Where the dead letters are: --dir DIRECTORY for files, --scope SCOPE for ${inOneList(byScope, 'or')}, ` +
    `--scope with ${inOneList(byOption, 'or')}, or --receiver MODULE for the dead letters of a receiver.`;
  return new Help().boxWrap([places, ...remarks].join(' '), 120);
}

/** The options that name a place in a store, and the scope of the dead letters there. */
export function placeOptions(): readonly Option[] {
  const titles = reachable.map(({ title }) => title);
  return [
    new Option('--scope <scope>', `dead letters in ${inOneList(titles, 'or')}: their scope`),
    ...reachable.flatMap(({ flag, title, value, noun, address, variable = address?.variable, hasSchema }) => {
      const source = variable === undefined ? '' : ` (env: ${variable})`;
      const description = `the ${noun} of ${title}, together with --scope${source}`;
      return [new Option(`${flag} <${value}>`, description), ...(hasSchema ? [schemaOption()] : [])];
    }),
  ];
}

/** Returns the place that the options name; undefined if they name none. */
export function namedPlace(options: PlaceOptions): NamedPlace | undefined {
  const [found, other] = reachable.flatMap(({ name }) => {
    const place = options[name];
    return place === undefined ? [] : [{ name, place }];
  });
  if (other === undefined) return found;
  const flags = inOneList(
    reachable.map(({ flag }) => flag),
    'and',
  );
  throw usageError(`give one of ${flags}: the dead letters are in one place`);
}

/** Stands for an address with a password in a printed command. As an address it is refused. */
const SAME_ADDRESS = '<the same address>';

/** The place that the options name, as words of a shell. An address with a password is not repeated. */
export function namedPlaceWords({ schema, ...options }: PlaceOptions & SchemaOfPlace): readonly string[] {
  const named = namedPlace(options);
  return [
    ...(named === undefined ? [] : [`--${named.name}`, placeWord(named)]),
    ...(schema === undefined || schema === DEFAULT_SCHEMA ? [] : ['--schema', quote(schema)]),
  ];
}

function placeWord({ name, place }: NamedPlace): string {
  const variable = servers.find((server) => server.name === name)?.variable;
  if (variable === undefined || !hasPassword(place)) return quote(place);
  return process.env[variable] === place ? `"$${variable}"` : quote(SAME_ADDRESS);
}

/** A text that is not a URL may hold a password too, which some clients accept. */
function hasPassword(address: string): boolean {
  if (!URL.canParse(address)) return true;
  const { password, searchParams } = new URL(address);
  return password !== '' || searchParams.has('password');
}

/** Returns the server whose address is in the environment. */
export function placeInEnvironment(): NamedPlace {
  const [found, other] = servers.flatMap((server) => {
    const place = process.env[server.variable];
    return place === undefined ? [] : [{ ...server, place }];
  });
  if (found === undefined) throw usageError(ADDRESS_COMPLAINT);
  if (other === undefined) return found;
  throw usageError(
    `both ${found.title} and ${other.title} are named, but the dead letters are in one place: ` +
      `give ${found.flag} or ${other.flag}`,
  );
}

/** Joins words as in `a, b or c`. */
function inOneList(words: readonly string[], conjunction: 'and' | 'or'): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${conjunction} ${last}`;
}
