import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createReceiver } from '../../create-receiver.ts';
import type { Key } from '../../receiver/authentication/key.ts';
import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import type { Store } from '../../receiver/dedupe/store.ts';
import type { EventIdentity } from '../../receiver/provider/event-identity.ts';
import type { Provider, ProviderTesting } from '../../receiver/provider/provider.ts';
import type { Reply } from '../../receiver/request/delivery.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';
import type { Receiver } from '../../receiver-interface.ts';
import { createMemoryStore } from '../../stores/memory/memory.ts';

/** The sender of the events, for {@link providerConformance}. */
export interface ProviderSamples extends ProviderTesting {
  /** A type of the sender; the first one of the provider's `types` by default, or `sample.created`. */
  readonly type?: string | undefined;
  /** Two signing keys of the sender's form; by default texts of base64. */
  readonly keys?: readonly [Key, Key] | undefined;
}

/** The requirements of providers, by their names. */
export type Requirements = Readonly<Record<string, (subject: Subject) => Promise<void>>>;

/** A request as a sender makes it. */
export interface SentRequest {
  readonly rawBody: Uint8Array;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** A receiver under test, with its visible effects. */
export interface Endpoint {
  readonly receiver: Pick<Receiver, 'receive' | 'replay'>;
  /** The events whose handler has run. */
  readonly handled: readonly EventIdentity[];
  readonly letters: ReadonlyMap<string, DeadLetter>;
  /** How often the store was asked for a claim. */
  readonly claims: () => number;
}

interface EndpointOptions {
  readonly provider?: Provider;
  readonly keys?: readonly Key[];
  readonly store?: Store;
  readonly deadLetters?: DeadLetters;
  readonly handler?: () => unknown;
}

const key = (text: string): string => Buffer.from(text.padEnd(32, '.')).toString('base64');

/** A provider, and its sender. */
export class Subject {
  readonly provider: Provider;
  readonly keys: readonly [Key, Key];
  readonly id: string;
  readonly type: string;
  readonly #samples: ProviderSamples;

  constructor(provider: Provider, samples: ProviderSamples, id: string = `evt_${randomUUID()}`) {
    this.id = id;
    this.provider = provider;
    this.#samples = samples;
    this.keys = samples.keys ?? [key('a key'), key('another key')];
    this.type = samples.type ?? provider.types?.[0] ?? 'sample.created';
  }

  /** An event of this id, signed by a key, at a time: now without one. */
  request(signing: { readonly signedBy?: Key; readonly signedAtMs?: number } = {}): SentRequest {
    return this.signed(this.body(), signing.signedBy, signing.signedAtMs);
  }

  body(): string {
    const { id, type } = this;
    return JSON.stringify(
      this.#samples.createEvent({ id, type, createdAtMs: Date.now() - 1_000, data: undefined }),
    );
  }

  signed(
    body: string | Uint8Array,
    signedBy: Key = this.keys[0],
    signedAtMs: number = Date.now(),
  ): SentRequest {
    const rawBody = Buffer.from(body);
    const event = { id: this.id, type: this.type };
    return { rawBody, headers: this.#samples.sign({ rawBody, key: signedBy, signedAtMs, event }) };
  }

  open(options: EndpointOptions = {}): Endpoint {
    const { provider = this.provider, keys = [this.keys[0]], handler = () => {} } = options;
    const letters = new Map<string, DeadLetter>();
    const store = options.store ?? createMemoryStore();
    let claims = 0;
    const counted: Store = {
      claim: (request) => {
        claims += 1;
        return store.claim(request);
      },
      renew: (request) => store.renew(request),
      complete: (request) => store.complete(request),
      release: (request) => store.release(request),
    };
    const deadLetters = options.deadLetters ?? keptIn(letters);
    const receiver = createReceiver({ provider, signingKey: keys, store: counted, deadLetters });
    const handled: EventIdentity[] = [];
    receiver.observe(() => {});
    receiver.on('*', async (_event, context) => {
      handled.push(context.event);
      await handler();
    });
    return { receiver, handled, letters, claims: () => claims };
  }
}

/** Dead letters in a map. */
export function keptIn(letters: Map<string, DeadLetter>): DeadLetters {
  return {
    put: async (letter) => void letters.set(letter.id, letter),
    get: async (id) => letters.get(id),
    remove: async (id) => letters.delete(id),
    async *list() {
      yield* letters.values();
    },
  };
}

/** Delivers a request; resolves with the answer's status, and its outcome or code. */
export async function deliverTo(
  { receiver }: Pick<Endpoint, 'receiver'>,
  { rawBody, headers }: SentRequest,
): Promise<{ readonly status: number; readonly says: unknown }> {
  const reply: Reply = await receiver.receive({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    readBody: () => rawBody,
  });
  const answer: unknown = JSON.parse(String(reply.body));
  return { status: reply.status, says: propertyOf(answer, 'outcome') ?? propertyOf(answer, 'code') };
}

/** Expects that a request is refused with 403, and has neither been claimed nor parked nor handled. */
export async function expectRefused(endpoint: Endpoint, request: SentRequest, code?: string): Promise<void> {
  const { status, says } = await deliverTo(endpoint, request);
  assert.equal(status, 403);
  if (code !== undefined) assert.equal(says, code);
  expectUntouched(endpoint);
}

/** Expects that nothing has been claimed, parked or handled. */
export function expectUntouched({ claims, handled, letters }: Endpoint): void {
  assert.deepEqual([claims(), handled.length, letters.size], [0, 0, 0]);
}
