import { createMemoryStore, type EventData, type Receiver, type Store, type WebhookEvent } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { Gate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { type DirectEndpoint, type EndpointOptions, openDirectly } from '../../../support/open-endpoint.ts';

/** The options of a handler that handles one event of a resource at a time. */
export const byResource = { name: 'book', concurrencyKey: (event: { data: EventData }) => event.data.id };

/** The id in the store of the key "a" of that handler. */
export const KEY_A = 'handled:key:4:book:a';

/** An event of the resource `id`. */
export function eventOf(id: string, createdAt = Date.now()): WebhookEvent<'transfer.created', EventData> {
  return { ...createEvent('transfer.created', { id }), created_at: new Date(createdAt).toISOString() };
}

/** A memory store that records the ids that are claimed and released. `other` replaces some operations. */
export function recordingStore(other: (memory: Store) => Partial<Store> = () => ({})): {
  readonly store: Store;
  readonly claims: string[];
  readonly releases: string[];
} {
  const claims: string[] = [];
  const releases: string[] = [];
  const memory = createMemoryStore();
  const inner = { ...memory, ...other(memory) };
  const store: Store = {
    ...inner,
    claim: (request) => {
      claims.push(request.id);
      return inner.claim(request);
    },
    release: (request) => {
      releases.push(request.id);
      return inner.release(request);
    },
  };
  return { store, claims, releases };
}

/** Claims the key "a" as another process that is killed then. */
export async function claimAndDie(store: Store, leaseMs = 60_000): Promise<void> {
  await store.claim({ id: KEY_A, token: 'a killed process', leaseMs, retentionMs: leaseMs });
}

/** A receiver whose handler "book" is held, with a key. */
export function openHeld(options: EndpointOptions = {}): DirectEndpoint & { readonly held: HeldHandler } {
  const held = new HeldHandler();
  const endpoint = openDirectly(options, (receiver: Receiver) => receiver.on('*', held.handle, byResource));
  return { ...endpoint, held };
}

/** Waits for more turns of the event loop than a claim, the begin of a handler or `close` needs. */
export async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A memory store whose releases wait while the gate is shut. */
export function gatedReleases(): { readonly store: Store; readonly gate: Gate } {
  const memory = createMemoryStore();
  const gate = new Gate();
  const release: Store['release'] = async (request) => {
    await gate.pass();
    return memory.release(request);
  };
  return { store: { ...memory, release }, gate };
}
