import type { DiscoveryService } from '@nestjs/core';

/**
 * Lets the modules that provide `token` start after all others, and close before all others. Of two such
 * tokens the one with the smaller distance starts later, and closes earlier.
 *
 * NestJS calls the hooks of the start in the order of the distances of modules from the root, which has the
 * distance 1: the farthest module first. It calls the hooks of the end in the reverse order. Otherwise a
 * provider of the root, or of a module that is as near, could close its pool in `onModuleDestroy` while
 * deliveries still use it.
 */
export function closeFirst(discovery: DiscoveryService, token: symbol, distance: -1 | -2): void {
  for (const provider of discovery.getProviders())
    if (provider.token === token && provider.host !== undefined) provider.host.distance = distance;
}
