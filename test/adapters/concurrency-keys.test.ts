import { createMemoryStore, createReceiver, type Store } from 'posthorn';
import { toFetch } from 'posthorn/fetch';
import { toLambda } from 'posthorn/lambda';
import { signedHeaders } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { byResource, eventOf, KEY_A } from '../receiver/handling/keys/keyed-events.ts';
import { shutGate } from '../support/gate.ts';
import { KEY } from '../support/served.ts';
import { until } from '../support/until.ts';
import { functionUrlEvent } from './lambda-events.ts';

/** A receiver with a key, on a store in which the release of the key waits for the gate. */
function open() {
  const memory = createMemoryStore();
  const gate = shutGate();
  const store: Store = {
    ...memory,
    release: async (request) => {
      if (request.id === KEY_A) await gate.pass();
      return memory.release(request);
    },
  };
  const receiver = createReceiver({ signingKey: KEY, store }).on('*', () => {}, byResource);
  const body = JSON.stringify(eventOf('a'));
  const headers = signedHeaders(body, { key: KEY });
  const isKeyFree = async () => {
    const claim = { id: KEY_A, token: 'another process', leaseMs: 1_000, retentionMs: 1_000 };
    return (await memory.claim(claim)).state === 'claimed';
  };
  return { gate, receiver: receiver.observe(() => {}), body, headers, isKeyFree };
}

/** Notes when a promise has settled. */
function watched(promise: Promise<unknown>): { settled: boolean } {
  const seen = { settled: false };
  void promise.then(() => {
    seen.settled = true;
  });
  return seen;
}

test('the handler of Lambda returns after the key was released: its process stops then', async () => {
  const { gate, receiver, body, headers, isKeyFree } = open();
  const request = {
    method: 'POST',
    target: '/webhooks',
    headers: Object.entries(headers),
    body: Buffer.from(body),
  };
  const handle = toLambda(receiver);
  const returned = handle(functionUrlEvent(request), { getRemainingTimeInMillis: () => 20_000 });
  const seen = watched(returned);
  await gate.held.nth(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen.settled).toBe(false);
  gate.open();
  expect(await returned).toHaveProperty('statusCode', 200);
  expect(await isKeyFree()).toBe(true);
});

test('fetch answers before the key is released, and waitUntil gets the release', async () => {
  const { gate, receiver, body, headers, isKeyFree } = open();
  const promises: Promise<unknown>[] = [];
  const handle = toFetch(receiver, { waitUntil: (promise) => void promises.push(promise) });
  const request = new Request('https://example.com/webhooks', { method: 'POST', headers, body });
  expect(await handle(request)).toHaveProperty('status', 200);
  const seen = watched(Promise.all(promises));
  await gate.held.nth(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen.settled).toBe(false);
  gate.open();
  await until('waitUntil is over', () => seen.settled);
  expect(await isKeyFree()).toBe(true);
});

test('waitUntil of a delivery that is answered at its deadline waits for the release after its run', async () => {
  const { body, headers } = open();
  const memory = createMemoryStore();
  const releases: string[] = [];
  const store: Store = {
    ...memory,
    release: (request) => {
      releases.push(request.id);
      return memory.release(request);
    },
  };
  const work = shutGate();
  const receiver = createReceiver({ signingKey: KEY, store, deadlineMs: 100, leaseMs: 3_000 });
  receiver.on('*', () => work.pass(), byResource).observe(() => {});
  const promises: Promise<unknown>[] = [];
  const handle = toFetch(receiver, { waitUntil: (promise) => void promises.push(promise) });
  const request = new Request('https://example.com/webhooks', { method: 'POST', headers, body });
  expect(await handle(request)).toHaveProperty('status', 503);
  expect(releases).toEqual([]);
  work.open();
  await Promise.all(promises);
  expect(releases).toEqual([KEY_A]);
});
