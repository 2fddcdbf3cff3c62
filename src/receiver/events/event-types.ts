/** The least that the receiver knows of an event: its type. */
export interface TypedEvent {
  /** The type, for example `invoice.paid` or `push`. */
  readonly type: string;
}

/** Every prefix of a type that ends before a dot. */
export type Prefix<Type extends string> = Type extends `${infer Head}.${infer Rest}`
  ? Head | `${Head}.${Prefix<Rest>}`
  : never;

/**
 * The patterns of `receiver.on` for a union of events: a type, a prefix such as `invoice.payment.*`, or
 * `*`. If the types are not known, any text: the receiver checks its form.
 */
export type PatternOf<E extends TypedEvent> = string extends E['type']
  ? string
  : '*' | E['type'] | `${Prefix<E['type']>}.*`;

/**
 * The members of a union of events that a pattern matches. Only the events of the patterns in use are
 * extracted: a map over all of a union takes the compiler long if the union has hundreds of members.
 */
export type MatchedEvent<P extends string, E extends TypedEvent> = P extends '*'
  ? E
  : string extends E['type']
    ? E
    : P extends `${infer Head}.*`
      ? Extract<E, { readonly type: `${Head}.${string}` }>
      : Extract<E, { readonly type: P }>;

/** The first segment of a type or of a pattern: `invoice` of `invoice.payment.*`. */
export type EntityOf<Type extends string> = Type extends `${infer Entity}.${string}` ? Entity : never;

/** The first segment of an event's type, or the whole type if it has one segment. */
export function entityOf(type: string): string {
  const end = type.indexOf('.');
  return end === -1 ? type : type.slice(0, end);
}
