import { createReceiver, type ReceiverOptions } from 'posthorn';
import { type FetchHandler, toFetch } from 'posthorn/fetch';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KEY } from '../support/served.ts';

/** Without it a reading that never ends would keep this process from ever noticing. */
const GUARD_MS = 15_000;

interface Endless {
  readonly body: ReadableStream<Uint8Array>;
  readonly state: { bytes: number; isCancelled: boolean; isGuarded: boolean };
}

/** A stream whose chunks are in memory: reading it never waits for the event loop. */
function endless(chunkBytes: number, onCancel: () => Promise<void> | undefined = () => undefined): Endless {
  const state = { bytes: 0, isCancelled: false, isGuarded: false };
  const chunk = new Uint8Array(chunkBytes);
  const endsAt = performance.now() + GUARD_MS;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      state.isGuarded = performance.now() > endsAt;
      if (state.isGuarded) controller.close();
      else controller.enqueue(chunk);
      state.bytes += chunkBytes;
    },
    cancel() {
      state.isCancelled = true;
      return onCancel();
    },
  });
  return { body, state };
}

function mount(options: Partial<ReceiverOptions> = {}): FetchHandler {
  const receiver = createReceiver({ signingKey: KEY, bodyTimeoutMs: 1_000, ...options }).on('*', () => {});
  receiver.observe(() => {});
  return toFetch(receiver);
}

const signature = { 'x-service-signature': '0'.repeat(64) };

function requestWith(body: ReadableStream<Uint8Array>, headers: Record<string, string> = signature): Request {
  return new Request('https://example.com/', { method: 'POST', headers, body, duplex: 'half' });
}

interface Answered {
  readonly status: number;
  readonly code: unknown;
}

/** Reads the answer to its end. */
async function answered(handle: FetchHandler, request: Request): Promise<Answered> {
  const response = await handle(request);
  const { code }: { code?: unknown } = JSON.parse(await response.text());
  return { status: response.status, code };
}

describe('a body in memory without an end', () => {
  test.each([
    [1, 'keeps'],
    [4_096, 'keeps'],
    [1, 'closes'],
    [4_096, 'closes'],
  ] as const)('in chunks of %i bytes is given up after the 413 that %s', async (chunkBytes, connection) => {
    const { body, state } = endless(chunkBytes);
    const headers = connection === 'closes' ? { ...signature, 'transfer-encoding': 'chunked' } : signature;
    const answer = await answered(mount({ maxBodyBytes: 5_000 }), requestWith(body, headers));
    expect(answer).toEqual({ status: 413, code: 'body_too_large' });
    await expect.poll(() => state.isCancelled).toBe(true);
    expect(state.isGuarded).toBe(false);
  });

  test('in large chunks: no more is dropped than 64 MiB, or maxBodyBytes', async () => {
    for (const maxBodyBytes of [1_000, 100_000_000]) {
      const { body, state } = endless(1_048_576);
      const options = { maxBodyBytes, maxBufferedBytes: 2 * maxBodyBytes };
      expect(await answered(mount(options), requestWith(body))).toMatchObject({ status: 413 });
      await expect.poll(() => state.isCancelled).toBe(true);
      expect(state.bytes).toBeLessThan(2 * Math.max(maxBodyBytes, 67_108_864) + 10_000_000);
    }
  });

  test('whose declared length is refused is given up as well, without having been read', async () => {
    const { body, state } = endless(1_024);
    const headers = { ...signature, 'content-length': '5000000000' };
    expect(await answered(mount(), requestWith(body, headers))).toMatchObject({ status: 413 });
    await expect.poll(() => state.isCancelled).toBe(true);
    expect(state.isGuarded).toBe(false);
  });

  test('in empty chunks has its time only, and others have their turns meanwhile', async () => {
    const { body, state } = endless(0);
    let turns = 0;
    const interval = setInterval(() => {
      turns += 1;
    }, 10);
    onTestFinished(() => clearInterval(interval));
    expect(await answered(mount({ bodyTimeoutMs: 300 }), requestWith(body))).toMatchObject({
      status: 408,
      code: 'body_timeout',
    });
    await expect.poll(() => state.isCancelled).toBe(true);
    expect(turns).toBeGreaterThan(3);
    expect(state.isGuarded).toBe(false);
  });

  test.each([
    ['never settles', () => new Promise<void>(() => {})],
    ['rejects', () => Promise.reject(new Error('cannot be cancelled'))],
  ] as const)('whose cancelling %s', async (_name, onCancel) => {
    const { body, state } = endless(65_536, onCancel);
    expect(await answered(mount({ maxBodyBytes: 1_000 }), requestWith(body))).toMatchObject({ status: 413 });
    await expect.poll(() => state.isCancelled).toBe(true);
    // A rejection that nobody handles shows in the next turn.
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('and one that stops after its refusal, and ignores that it is cancelled', async () => {
    const request = requestWith(endless(1_024).body);
    let reads = 0;
    const read = async () => {
      reads += 1;
      if (reads > 3) await new Promise(() => {});
      return { done: false, value: new Uint8Array(1_024) };
    };
    const body = { locked: false, getReader: () => ({ read, cancel: () => new Promise<void>(() => {}) }) };
    const { method, headers } = request;
    const handle = mount({ maxBodyBytes: 1_000 });
    const response: Promise<Response> = Reflect.apply(handle, undefined, [
      { method, headers, body, bodyUsed: false },
    ]);
    expect(await (await response).json()).toMatchObject({ code: 'body_too_large' });
  });
});
