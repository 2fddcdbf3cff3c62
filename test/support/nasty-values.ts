import { PermanentError, RequestError } from 'posthorn';

/** Values that code of others may throw, and that throw themselves when they are asked for something. */
export const nastyValues: readonly { readonly name: string; readonly value: unknown }[] = [
  ...['message', 'name', 'stack', 'code', 'cause', 'then', 'toString', 'constructor', 'toJSON'].map(
    (name) => ({
      name: `an error whose ${name} throws`,
      value: throwingAt(new Error('m'), name),
    }),
  ),
  { name: 'an error whose toStringTag throws', value: throwingAt(new Error(''), Symbol.toStringTag) },
  { name: 'an error whose toPrimitive throws', value: throwingAt(new Error(''), Symbol.toPrimitive) },
  { name: 'an object whose toStringTag throws', value: throwingAt({}, Symbol.toStringTag) },
  { name: 'an error of a class whose getters throw', value: new (classWithThrowingGetters())() },
  {
    name: 'an error of ours whose message throws',
    value: throwingAt(new RequestError('body_timeout', 'm'), 'message'),
  },
  {
    name: 'an error of ours whose code throws',
    value: throwingAt(new RequestError('body_timeout', 'm'), 'code'),
  },
  { name: 'a revoked Proxy of an object', value: revoked({}) },
  { name: 'a revoked Proxy of a function', value: revoked(() => {}) },
  { name: 'a revoked Proxy of an error', value: revoked(new Error('m')) },
  { name: 'a revoked Proxy of a PermanentError', value: revoked(new PermanentError('m')) },
  { name: 'an object whose prototype is a revoked Proxy', value: Object.create(revoked({})) },
  { name: 'a Proxy of an object whose traps all throw', value: new Proxy({}, throwingTraps()) },
  { name: 'a Proxy of a function whose traps all throw', value: new Proxy(() => {}, throwingTraps()) },
  { name: 'a Proxy of an error whose traps all throw', value: new Proxy(new Error('m'), throwingTraps()) },
  { name: 'a Proxy of an error whose properties throw', value: new Proxy(new Error('m'), { get: fail }) },
  { name: 'an object without a prototype', value: Object.create(null) },
  {
    name: 'an error whose message is an object without a prototype',
    value: withOwn('message', Object.create(null)),
  },
  { name: 'an error without a message whose name is a symbol', value: withOwn('name', Symbol('name')) },
  {
    name: 'an error with a message of 5 million characters',
    value: withOwn('message', 'm'.repeat(5_000_000)),
  },
  { name: 'a text of 5 million characters', value: 'm'.repeat(5_000_000) },
  { name: 'an error with a name of 5 million characters', value: withOwn('name', 'n'.repeat(5_000_000)) },
  { name: 'lone surrogates', value: '\ud800\udfff\udc00'.repeat(2_000) },
  { name: 'an error that is its own cause', value: selfCaused() },
  { name: 'a symbol', value: Symbol('s') },
  { name: 'a bigint', value: 10n ** 5_000n },
  { name: 'undefined', value: undefined },
  { name: 'null', value: null },
  { name: 'an object whose inspection throws', value: { [Symbol.for('nodejs.util.inspect.custom')]: fail } },
];

function fail(): never {
  throw new Error('asked for something');
}

function throwingAt<T extends object>(target: T, name: PropertyKey): T {
  return Object.defineProperty(target, name, { get: fail });
}

function withOwn(name: string, value: unknown): Error {
  return Object.defineProperty(new Error(''), name, { value });
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function throwingTraps(): ProxyHandler<object> {
  return new Proxy({}, { get: () => fail });
}

function selfCaused(): Error {
  const error = new Error('m');
  error.cause = error;
  return error;
}

function classWithThrowingGetters(): new () => Error {
  class Nasty extends Error {
    override get message(): string {
      return fail();
    }
    override get name(): string {
      return fail();
    }
    get code(): string {
      return fail();
    }
  }
  return Nasty;
}
