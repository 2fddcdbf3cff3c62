import type { Receiver } from '../receiver-interface.ts';

/** A method with `@OnWebhook` or `@OnUnhandledWebhook`. */
export interface DecoratedMethod {
  /** The prototype of the class that declares it. */
  readonly declaredBy: object;
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
  /**
   * The methods that were declared after the container of the last application was built, and that none has
   * found on a provider yet.
   */
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
export function addMethod(method: DecoratedMethod): void {
  const { methods, unprovided } = registry();
  const { declaredBy } = method;
  const replaced = [...unprovided].find((older) => isAnew(method, older))?.declaredBy;
  for (const older of replaced === undefined ? [] : (methods.get(replaced) ?? [])) unprovided.delete(older);
  methods.set(declaredBy, [...(methods.get(declaredBy) ?? []), method]);
  unprovided.add(method);
}

/** A module that is evaluated again (`vi.resetModules()`, a hot reload) declares its classes anew. */
function isAnew(method: DecoratedMethod, older: DecoratedMethod): boolean {
  const isSame = (name: 'place' | 'events' | 'receiver') => method[name] === older[name];
  return method.declaredBy !== older.declaredBy && isSame('place') && isSame('events') && isSame('receiver');
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

/** All that is declared for a provider with this prototype, also what a subclass overrides. */
export function declaredFor(prototype: unknown): readonly DecoratedMethod[] {
  return [...prototypesOf(prototype)].flatMap((each) => registry().methods.get(each) ?? []);
}

/** Takes those out that no application has to provide any more. */
export function removeUnprovided(methods: Iterable<DecoratedMethod>): void {
  for (const method of methods) registry().unprovided.delete(method);
}

/** The methods that the next application must provide. */
export function unprovidedMethods(): readonly DecoratedMethod[] {
  return [...registry().unprovided];
}

function* prototypesOf(prototype: unknown): Generator<object> {
  let each = prototype;
  while (typeof each === 'object' && each !== null) {
    yield each;
    each = Object.getPrototypeOf(each);
  }
}
