import type { DiscoveryService } from '@nestjs/core';
import { propertyOf } from '../receiver/values/foreign-values.ts';

type ProviderOfModule = ReturnType<DiscoveryService['getProviders']>[number];

/**
 * Lets the modules that provide `token` start after all others, and close before all others. If there are two
 * such tokens, the modules with the smaller distance start later, and close earlier.
 *
 * NestJS calls the hooks of the start in the order of the distances of modules from the root, which has the
 * distance 1: the farthest module first. It calls the hooks of the end in the reverse order. Otherwise a
 * provider of the root, or of a module that is as near, could close its pool in `onModuleDestroy` while
 * deliveries still use it.
 *
 * NestJS documents no way to choose this order: a global module starts first and closes last, and no hook
 * runs before `onModuleDestroy`. A version of NestJS may order its modules in another way, so `ModuleCheck`
 * starts an application only if {@link closesFirst} returns true.
 */
export function closeFirst(discovery: DiscoveryService, token: symbol, distance: -1 | -2): void {
  for (const provider of discovery.getProviders()) {
    // Unlike an assignment, this does not throw if the distance can only be read.
    if (provider.token === token && hasDistance(provider)) Reflect.set(provider.host, 'distance', distance);
  }
}

/** Returns true if {@link closeFirst} has had its effect on the module of the provider. */
export function closesFirst(provider: ProviderOfModule): boolean {
  return hasDistance(provider) && provider.host.distance < 0;
}

/** Setting a `distance` that NestJS does not have would do nothing. */
function hasDistance(
  provider: ProviderOfModule,
): provider is ProviderOfModule & Pick<Required<ProviderOfModule>, 'host'> {
  return typeof propertyOf(provider.host, 'distance') === 'number';
}
