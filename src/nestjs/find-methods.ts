import type { DiscoveryService } from '@nestjs/core';
import { ConfigurationError } from '../receiver/errors.ts';
import { propertyOf } from '../receiver/values/foreign-values.ts';
import { type DecoratedMethod, declaredFor, methodsOf } from './decorated-methods.ts';

/** A decorated method of a provider, and a function that calls it there. */
export interface ProvidedMethod extends DecoratedMethod {
  readonly call: (event: unknown, context: unknown) => unknown;
}

/** A provider or controller, as NestJS keeps it. */
type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];

/**
 * Finds the decorated methods of all providers and controllers.
 *
 * @throws ConfigurationError for a method that cannot be called, or that would run twice for an event.
 */
export function findMethods(discovery: DiscoveryService): readonly ProvidedMethod[] {
  const found = new Map<unknown, Wrapper>();
  return [...discovery.getProviders(), ...discovery.getControllers()].flatMap((wrapper) => {
    const { declaredBy, methods } = declarationOf(wrapper);
    const [first] = methods;
    if (first === undefined) return [];
    checkScope(wrapper, first);
    // An application provides null for a class that it does not use: a feature is off, or a test runs.
    if (wrapper.instance === null || found.get(declaredBy)?.instance === wrapper.instance) return [];
    for (const [other, provider] of found)
      if (isRelated(other, declaredBy)) throw runsTwice(first, provider, wrapper);
    found.set(declaredBy, wrapper);
    return methods.map((method) => ({ ...method, call: callOf(wrapper.instance, method) }));
  });
}

/** All methods that are declared for the providers and controllers, also for those that are null. */
export function findProvided(discovery: DiscoveryService): ReadonlySet<DecoratedMethod> {
  const wrappers = [...discovery.getProviders(), ...discovery.getControllers()];
  const prototypes = wrappers.flatMap((wrapper) => [
    declarationOf(wrapper).declaredBy,
    propertyOf(wrapper.token, 'prototype'),
  ]);
  return new Set(prototypes.flatMap(declaredFor));
}

/** A stand-in of a test has the decorated methods of the class that it replaces. */
function declarationOf({ instance, token }: Wrapper): {
  readonly declaredBy: unknown;
  readonly methods: readonly DecoratedMethod[];
} {
  const own = instance === undefined || instance === null ? undefined : Object.getPrototypeOf(instance);
  const declaredBy = methodsOf(own).length > 0 ? own : propertyOf(token, 'prototype');
  return { declaredBy, methods: methodsOf(declaredBy) };
}

function checkScope(wrapper: Wrapper, { label }: DecoratedMethod): void {
  if (wrapper.isDependencyTreeStatic() && !wrapper.isTransient) return;
  throw new ConfigurationError(
    `${label} is on a provider of the scope ${wrapper.isTransient ? 'TRANSIENT' : 'REQUEST'}, which has ` +
      'no instance for an event: give the provider, and all that it injects, the default scope, and get others ' +
      'in the method by `await moduleRef.resolve(…)`',
  );
}

/** Returns true if one is the other, or inherits from it. */
function isRelated(one: unknown, other: unknown): boolean {
  return inherits(one, other) || inherits(other, one);
}

function inherits(prototype: unknown, from: unknown): boolean {
  return prototype === from || Object.prototype.isPrototypeOf.call(from, Object(prototype));
}

function runsTwice({ label }: DecoratedMethod, ...providers: readonly Wrapper[]): ConfigurationError {
  const places = providers.map(({ name, host }) => `${String(name)} of ${host?.name}`);
  return new ConfigurationError(
    `${label} is on the providers ${places.join(' and ')}, and would run twice for each event: ` +
      'provide it in one module, which exports it for others',
  );
}

/** Looks the method up at each call, so that a spy which a test installs later is called. */
function callOf(instance: unknown, { key, label }: DecoratedMethod): ProvidedMethod['call'] {
  const target = Object(instance);
  if (typeof propertyOf(target, key) === 'function')
    return async (...parameters) => untilComplete(await target[key](...parameters));
  throw new ConfigurationError(
    `${label} has been replaced by a provider without that method: provide an object that has it, or null`,
  );
}

/** An Observable of RxJS does nothing before a subscription. NestJS subscribes in its own handlers too. */
function untilComplete(result: unknown): unknown {
  if (typeof propertyOf(result, 'subscribe') !== 'function') return result;
  return new Promise<void>((complete, error) => Object(result).subscribe({ complete, error }));
}
