import type { Receiver } from '../receiver/receiver-interface.ts';

/** A method with `@OnWebhook` or `@OnUnhandledWebhook`. */
export interface DecoratedMethod {
  /** The class and the method, for the log. */
  readonly place: string;
  /** The place, and the decorator, for messages. */
  readonly label: string;
  readonly key: string | symbol;
  /** The name of the receiver that it is for; undefined for the one without a name. */
  readonly receiver: string | undefined;
  /** The events that it handles, for the log. */
  readonly events: string;
  /** Registers it. `call` calls the method on the provider. */
  register(receiver: Receiver, call: (event: unknown, context: unknown) => unknown): void;
}

interface Registry {
  /** By the prototype of the class that declares them. */
  readonly methods: WeakMap<object, DecoratedMethod[]>;
  /** The methods that no application has found on a provider yet. */
  readonly unprovided: Set<DecoratedMethod>;
}

const REGISTRY: unique symbol = Symbol.for('posthorn.nestjs.methods');

/** Shared by the ESM and the CommonJS build: the module of one runs methods that the other has decorated. */
function registry(): Registry {
  const shared: typeof globalThis & { [REGISTRY]?: Registry } = globalThis;
  shared[REGISTRY] ??= { methods: new WeakMap(), unprovided: new Set() };
  return shared[REGISTRY];
}

/** Records a decorated method of a class. */
export function addMethod(prototype: object, method: DecoratedMethod): void {
  const { methods, unprovided } = registry();
  methods.set(prototype, [...(methods.get(prototype) ?? []), method]);
  unprovided.add(method);
}

/**
 * The decorated methods of an object that has this prototype. A method that a subclass decorates anew
 * replaces the inherited one; an override without a decorator keeps the inherited decorator.
 */
export function methodsOf(prototype: unknown): readonly DecoratedMethod[] {
  const found: DecoratedMethod[] = [];
  for (const each of prototypesOf(prototype)) {
    const nearer = new Set(found.map(({ key }) => key));
    found.push(...(registry().methods.get(each) ?? []).filter(({ key }) => !nearer.has(key)));
  }
  return found;
}

/** Records that an application has a provider with this prototype. */
export function markProvided(prototype: unknown): void {
  const { methods, unprovided } = registry();
  for (const each of prototypesOf(prototype))
    for (const method of methods.get(each) ?? []) unprovided.delete(method);
}

/** The methods for a receiver that no application has found on a provider. */
export function unprovidedMethods(receiver: string | undefined): readonly DecoratedMethod[] {
  return [...registry().unprovided].filter((method) => method.receiver === receiver);
}

function* prototypesOf(prototype: unknown): Generator<object> {
  let each = prototype;
  while (typeof each === 'object' && each !== null) {
    yield each;
    each = Object.getPrototypeOf(each);
  }
}
