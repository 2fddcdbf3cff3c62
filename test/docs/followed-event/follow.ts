import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type MessagePort, Worker } from 'node:worker_threads';
import type { ClaimRequest, CompleteRequest, ReleaseRequest, Store } from 'posthorn';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { rolldown } from 'rolldown';
import type { StoreOperation } from '../../stores/kit/store-operations.ts';
import { packageRoot } from '../../support/child-program.ts';
import { KEY } from '../../support/served.ts';
import { type Followed, noteCalls } from './note-calls.ts';

/** Where the steps of an event are. The other files are their tools. */
const FILES = new RegExp(
  `^(${[
    'adapters/answer',
    'src/receiver/receiver',
    'src/receiver/authentication/(authenticator|hmac-scheme)',
    'src/receiver/events/age',
    'src/providers/banking-service/read-event',
    'src/receiver/handling/ways-in/(deliver|read-event)',
    'src/receiver/handling/run/(runs-in-flight|handle-event|run-end)',
    'src/receiver/handling/handlers/handlers',
    'src/receiver/handling/letters/event-letter',
    'src/receiver/dedupe/(claim|lease|retries)',
    'src/receiver/dead-letters/letter-operations',
    'src/receiver/outcomes/(outcome|reporter)',
    'src/stores/memory/memory',
  ].join('|')})\\.ts$`,
);

const MINUTE_MS = 60_000;
/** No retry of the default schedule comes to an event of this age. */
export const LAST_AGE_MS = 20 * MINUTE_MS;

/** What a process is given at its beginning. */
export interface ProcessData {
  readonly handler: 'succeeds' | 'crashes' | 'fails';
  readonly signingKey: string;
  /** The time by which its clock is ahead. */
  readonly aheadMs: number;
}

/** A message of a process: what it calls, asks the store, or where it listens. */
interface Message {
  readonly called?: string;
  readonly operation?: StoreOperation;
  readonly request: ClaimRequest & CompleteRequest & ReleaseRequest;
  readonly replyTo: MessagePort;
}

/** A delivery as one process handled it. */
export interface FollowedDelivery {
  /** Each function once, in the order of their first calls. */
  readonly functions: readonly Followed[];
  /** Undefined if the process died. */
  readonly answer: string | undefined;
}

const handler: Followed = { file: 'your application', name: 'the handler', does: 'Handles the event.' };

/** The sources as they were bundled to be followed. */
interface Bundle {
  readonly folder: string;
  /** By their keys. */
  readonly found: ReadonlyMap<string, Followed>;
}

/** Bundles the sources into a folder. */
export async function bundleInto(folder: string): Promise<Bundle> {
  const found = new Map<string, Followed>([['handler', handler]]);
  const bundler = await rolldown({
    input: {
      process: join(import.meta.dirname, 'process.ts'),
      store: join(packageRoot, 'src/stores/memory/memory.ts'),
    },
    platform: 'node',
    external: /^node:/,
    plugins: [noteCalls(FILES, found)],
  });
  await bundler.write({ dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' });
  await bundler.close();
  return { folder, found };
}

/** Delivers an event to one process after the other, a minute apart. Each has one of the handlers. */
export async function follow(
  bundle: Bundle,
  handlers: readonly ProcessData['handler'][],
  { ageMs }: { readonly ageMs: number },
): Promise<FollowedDelivery[]> {
  const { createMemoryStore } = await import(pathToFileURL(join(bundle.folder, 'store.mjs')).href);
  const createdAt = new Date(Date.now() - ageMs).toISOString();
  const body = JSON.stringify({ ...createEvent('transfer.succeeded'), created_at: createdAt });
  let aheadMs = 0;
  const store: Store = createMemoryStore({ now: () => aheadMs });
  const deliveries: FollowedDelivery[] = [];
  for (const one of handlers) {
    deliveries.push(await deliver(bundle, body, store, { handler: one, signingKey: KEY, aheadMs }));
    aheadMs += MINUTE_MS;
  }
  return deliveries;
}

async function deliver(
  { folder, found }: Bundle,
  body: string,
  store: Store,
  workerData: ProcessData,
): Promise<FollowedDelivery> {
  const called = new Set<string>();
  const worker = new Worker(join(folder, 'process.mjs'), { workerData });
  const [listening] = await once(worker, 'message');
  const { port }: AddressInfo = listening.address;
  worker.on('message', async ({ called: key, operation, request, replyTo }: Message) => {
    if (key !== undefined) called.add(key);
    if (operation === undefined) return;
    globalThis.noteCall = (own) => void called.add(own);
    const answer = store[operation](request);
    globalThis.noteCall = undefined;
    replyTo.postMessage(await answer);
  });
  const ended = once(worker, 'exit');
  const headers = signedHeaders(body, { key: KEY });
  const request = fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers });
  const response = await request.catch(() => undefined);
  const answer = await response?.text();
  if (response !== undefined) await worker.terminate();
  await ended;
  return { functions: [...called].flatMap((key) => found.get(key) ?? []), answer };
}
