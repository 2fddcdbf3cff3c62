import type { DiscoveryService } from '@nestjs/core';
import { type DecoratedMethod, removeUnprovided, unprovidedMethods } from './decorated-methods.ts';
import { findProvided } from './find-methods.ts';
import { getReceiverToken } from './tokens.ts';

/** By application: the methods that it must provide. */
const declared = new WeakMap<DiscoveryService, readonly DecoratedMethod[]>();

/**
 * Notes the methods for the receivers of an application that were declared before its container was built,
 * and after that of the application before. Only this application must provide them: if it forgets one, or
 * never starts, the next one starts all the same.
 */
export function noteDeclared(discovery: DiscoveryService): void {
  if (declared.has(discovery)) return;
  const tokens = new Set(discovery.getProviders().map(({ token }) => token));
  const own = unprovidedMethods().filter(({ receiver }) => tokens.has(getReceiverToken(receiver)));
  declared.set(discovery, own);
  removeUnprovided(own);
}

/** The methods that the application must provide, and does not. All its providers exist. */
export function forgottenMethods(discovery: DiscoveryService): readonly DecoratedMethod[] {
  const provided = findProvided(discovery);
  // A class may have been loaded while the providers were created.
  removeUnprovided(provided);
  return (declared.get(discovery) ?? []).filter((method) => !provided.has(method));
}
