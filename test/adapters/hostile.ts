import { describe } from 'vitest';
import type { Mount } from './endpoint.ts';
import { hostileBodies } from './hostile-bodies.ts';
import { hostileConnections } from './hostile-connections.ts';
import { hostileRefusals } from './hostile-refusals.ts';

/** What senders and networks can do to an adapter, in raw bytes: none of it hangs, leaks or stops it. */
export function hostileNetwork(mount: Mount): void {
  describe('bodies', () => hostileBodies(mount));
  describe('bodies behind a refusal', () => hostileRefusals(mount));
  describe('connections', () => hostileConnections(mount));
}
