import type { DiscoveryService } from '@nestjs/core';
import { ConfigurationError } from '../receiver/errors.ts';
import { propertyOf } from '../receiver/values/foreign-values.ts';
import { claim, type DecoratedMethod, methodsOf } from './decorated-methods.ts';

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
  const instances = new Set<unknown>();
  const modules = new Map<unknown, string | undefined>();
  return [...discovery.getProviders(), ...discovery.getControllers()].flatMap((wrapper) => {
    const { declaredBy, methods } = declarationOf(wrapper);
    const [first] = methods;
    if (first === undefined || instances.has(wrapper.instance)) return [];
    claim(declaredBy);
    checkScope(wrapper, first);
    if (modules.has(declaredBy)) throw runsTwice(first, modules.get(declaredBy), wrapper.host?.name);
    instances.add(wrapper.instance);
    modules.set(declaredBy, wrapper.host?.name);
    return methods.map((method) => ({ ...method, call: callOf(wrapper.instance, method) }));
  });
}

/** A stand-in of a test has the methods of the class that it is provided for. */
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
    `${label} is on a provider of the scope ${wrapper.isTransient ? 'TRANSIENT' : 'REQUEST'}, of which no event ` +
      'has an instance: let the provider and all that it injects have the default scope, and get others in the ' +
      'method by `await moduleRef.resolve(…)`',
  );
}

function runsTwice(
  { label }: DecoratedMethod,
  ...modules: readonly (string | undefined)[]
): ConfigurationError {
  return new ConfigurationError(
    `${label} is on a provider of ${modules.join(' and of ')}, and would run twice for each event: ` +
      'provide it in one module, export it, and import that module in the other',
  );
}

/** Looks the method up at each call, so that a spy which a test installs later is called. */
function callOf(instance: unknown, { key, label }: DecoratedMethod): ProvidedMethod['call'] {
  const target = Object(instance);
  if (typeof propertyOf(target, key) === 'function') return (...parameters) => target[key](...parameters);
  throw new ConfigurationError(
    `${label} has been replaced by a provider without that method: provide an object that has it`,
  );
}
