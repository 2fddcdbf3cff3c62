import { isDeepStrictEqual } from 'node:util';
import type { Authentication } from '../../receiver/authentication/credentials.ts';
import type { StoredEventFilter } from '../shapes/webhooks.ts';

/**
 * Returns true if two addresses are the same: the service may have written `https://example.com` as
 * `https://example.com/`.
 */
export function isSameUrl(one: string, other: string): boolean {
  return normalizeUrl(one) === normalizeUrl(other);
}

/** Returns true if two filters admit the same events, whatever their order and repetitions. */
export function areSameEvents(
  one: readonly StoredEventFilter[],
  other: readonly StoredEventFilter[],
): boolean {
  return isDeepStrictEqual(typesByEntity(one), typesByEntity(other));
}

/** Returns true if two credentials are the same. Only the members of their type are compared. */
export function isSameAuthentication(one: Authentication, other: Authentication): boolean {
  return isDeepStrictEqual(partsOf(one), partsOf(other));
}

function normalizeUrl(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url;
}

/**
 * An empty set stands for every type, as an empty list does at the service, and includes the types named
 * beside it.
 */
function typesByEntity(filters: readonly StoredEventFilter[]): Map<string, Set<string>> {
  const byEntity = new Map<string, Set<string>>();
  for (const { entity, types } of filters) {
    const named = byEntity.get(entity);
    if (types.length === 0 || named?.size === 0) byEntity.set(entity, new Set());
    else if (named === undefined) byEntity.set(entity, new Set(types));
    // The set is extended rather than copied: a foreign list may name an entity many thousand times.
    else for (const type of types) named.add(type);
  }
  return byEntity;
}

function partsOf(authentication: Authentication): readonly string[] {
  switch (authentication.type) {
    case 'BASIC':
      return [authentication.type, authentication.basic.username, authentication.basic.password];
    case 'BEARER':
      return [authentication.type, authentication.bearer.token];
    case 'NONE':
      return [authentication.type];
  }
}
