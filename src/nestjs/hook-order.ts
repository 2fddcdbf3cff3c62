import type { DiscoveryService } from '@nestjs/core';

/**
 * Lets the modules that provide `token` start after all others, and close before all others; of two such
 * tokens the one with the smaller distance is the outer one.
 *
 * NestJS calls the hooks of a start in the order of the distances of modules from the root, the farthest
 * first, and those of the end in reverse. Without this, a provider of the root module, or of a module that is
 * as near, could end its pool in `onModuleDestroy` while deliveries still use it. The root has the distance
 * 1.
 */
export function closeFirst(discovery: DiscoveryService, token: symbol, distance: -1 | -2): void {
  for (const provider of discovery.getProviders())
    if (provider.token === token && provider.host !== undefined) provider.host.distance = distance;
}
