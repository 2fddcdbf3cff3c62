import {
  ConfigurationError,
  createReceiver,
  type Receiver,
  type ReceiverOptions,
  type Report,
  sign,
} from 'posthorn';
import { type FetchHandler, type FetchOptions, toFetch } from 'posthorn/fetch';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listenUntilTheEnd } from '../support/listen.ts';
import { throwing } from '../support/throwing.ts';
import { expectAccepted, expectProblem, Gate, KEY, type Seen, signed, transfer } from './endpoint.ts';

interface Mounted {
  readonly handle: FetchHandler;
  readonly receiver: Receiver;
  readonly reports: readonly Report[];
}

/** A receiver that takes requests without a server. */
function mount(
  options: Partial<ReceiverOptions> = {},
  handler: () => unknown = () => {},
  fetchOptions?: FetchOptions,
): Mounted {
  const receiver = createReceiver({ signingKey: KEY, ...options }).on('transfer.*', handler);
  const reports: Report[] = [];
  receiver.observe((report) => reports.push(report));
  return { handle: toFetch(receiver, fetchOptions), receiver, reports };
}

async function seen(answer: Promise<Response>): Promise<Seen> {
  const response = await answer;
  return { status: response.status, headers: new Map(response.headers), body: await response.text() };
}

function requestOf(event: object, init: RequestInit = {}): Request {
  return new Request('https://example.com/webhooks', { method: 'POST', ...signed(event), ...init });
}

/** A request with a body that arrives chunk by chunk, from an application or a runtime of another realm. */
function streamed(body: ReadableStream<Uint8Array>, headers: Record<string, string>): Request {
  return requestOf({}, { headers, body, duplex: 'half' });
}

describe('requests', () => {
  test('an event is processed, then a duplicate; another signature is refused', async () => {
    const { handle } = mount();
    const event = transfer();
    expectAccepted(await seen(handle(requestOf(event))), 'processed', event.id);
    expectAccepted(await seen(handle(requestOf(event))), 'duplicate', event.id);
    const forged = requestOf(event, { headers: { 'x-service-signature': '0'.repeat(64) } });
    expectProblem(await seen(handle(forged)), 403, 'signature_mismatch');
  });

  test('a request without a body has an empty body', async () => {
    const { handle } = mount();
    const headers = { 'x-service-signature': sign('', KEY) };
    expectProblem(await seen(handle(requestOf({}, { headers, body: null }))), 400, 'body_not_json');
  });

  test.each(['GET', 'HEAD', 'PUT', 'OPTIONS'])('%s is answered 405', async (method) => {
    const { handle } = mount();
    const answer = await seen(handle(new Request('https://example.com/', { method })));
    expectProblem(answer, 405, 'method_not_allowed');
  });

  test('a request of any realm is taken by its members', async () => {
    const { handle } = mount();
    const event = transfer();
    const { method, headers, body, bodyUsed, signal } = requestOf(event);
    const foreign = { method, headers: new Map(headers), body, bodyUsed, signal };
    const answer = await Reflect.apply(handle, undefined, [foreign]);
    expectAccepted(await seen(Promise.resolve(answer)), 'processed', event.id);
  });

  test.each([
    ['nothing', undefined],
    ['a context', { request: requestOf({}), params: {} }],
    ['a parsed body', { id: 'TR_1', type: 'transfer.succeeded' }],
  ])('%s is refused with what to hand over', async (_, value) => {
    const { handle } = mount();
    const handled: Promise<unknown> = Reflect.apply(handle, undefined, [value]);
    await expect(handled).rejects.toThrow(ConfigurationError);
    await expect(handled).rejects.toThrow(/c\.req\.raw in Hono.*event\.request in SvelteKit.*toExpress/);
  });

  test('a request of Node.js is refused with the adapter for it', async () => {
    const { handle } = mount();
    const url = await listenUntilTheEnd((request, response) => {
      const handled: Promise<unknown> = Reflect.apply(handle, undefined, [request, response]);
      handled.catch((error: Error) => response.writeHead(500).end(error.message));
    });
    const answer = await seen(fetch(url, { method: 'POST', ...signed() }));
    expect(answer.status).toBe(500);
    expect(answer.body).toMatch(/toNode of posthorn\/node.*got Object$/);
  });

  test.each([
    [{ waitUntil: 'after' }, /waitUntil must be a function/],
    [{ path: '/webhooks' }, /path/],
  ])('the options %j are refused', (options, message) => {
    const { receiver } = mount();
    const call = (): unknown => Reflect.apply(toFetch, undefined, [receiver, options]);
    expect(call).toThrow(ConfigurationError);
    expect(call).toThrow(message);
  });

  test('a value that is not a receiver is refused', () => {
    expect(() => Reflect.apply(toFetch, undefined, [{}])).toThrow(/toFetch takes a receiver/);
  });
});

describe('bodies', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  test('a body in chunks of one byte', async () => {
    const { handle } = mount();
    const event = transfer();
    const { body, headers } = signed(event);
    const chunks = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes(body)) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expectAccepted(await seen(handle(streamed(chunks, headers))), 'processed', event.id);
  });

  test('a body that breaks off', async () => {
    const { handle, reports } = mount();
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes('{')),
      pull: (controller) => controller.error(new Error('the sender gave up')),
    });
    expectProblem(await seen(handle(streamed(broken, signed().headers))), 400, 'body_incomplete');
    expect(reports[0]?.error?.message).toBe('the body was cut short: the sender gave up');
  });

  test('a body that stops is given up, then cancelled', async () => {
    const { handle } = mount({ bodyTimeoutMs: 50 });
    const gate = new Gate();
    const stopped = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes('{')),
      cancel: () => gate.open(),
    });
    const answer = await seen(handle(streamed(stopped, signed().headers)));
    expectProblem(answer, 408, 'body_timeout');
    await gate.opened;
  });

  test('the rest of a body that is too large is dropped, then cancelled', async () => {
    // Time for some chunks, on a system whose timers are late by 16 ms as well.
    const { handle } = mount({ maxBodyBytes: 1_000, bodyTimeoutMs: 500 });
    const gate = new Gate();
    let sentBytes = 0;
    const endless = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        controller.enqueue(new Uint8Array(900));
        sentBytes += 900;
      },
      cancel: () => gate.open(),
    });
    const answer = await seen(handle(streamed(endless, signed().headers)));
    expectProblem(answer, 413, 'body_too_large');
    await gate.opened;
    expect(sentBytes).toBeGreaterThan(1_800);
  });

  test('a stream of something else than bytes', async () => {
    const { handle, reports } = mount();
    const { method, headers, bodyUsed } = requestOf({});
    const body = ReadableStream.from([{ id: 'TR_1' }]);
    const request = { method, headers, body, bodyUsed };
    const answer: Promise<Response> = Reflect.apply(handle, undefined, [request]);
    expectProblem(await seen(answer), 500, 'configuration_invalid');
    expect(reports[0]?.error?.message).toMatch(/^each chunk of a body must be .*; got Object/);
  });

  test('a sender that has hung up is reported', async () => {
    const sender = new AbortController();
    const { handle, reports } = mount({}, () => sender.abort());
    await handle(requestOf(transfer(), { signal: sender.signal }));
    expect(reports).toMatchObject([{ outcome: 'processed', answerSent: false }]);
  });
});

describe('waitUntil', () => {
  /** What a platform hands over; its method must be called on it. */
  class ExecutionContext {
    readonly promises: Promise<unknown>[] = [];
    waitUntil(promise: Promise<unknown>): void {
      this.promises.push(promise);
    }
  }

  /** Sends an event whose handler outlasts the deadline; the promises must not settle before it. */
  async function expectWaiting(
    context: ExecutionContext,
    platformArguments: readonly unknown[],
    fetchOptions?: FetchOptions,
  ): Promise<void> {
    const gate = new Gate();
    const { handle, reports } = mount({ deadlineMs: 50 }, () => gate.opened, fetchOptions);
    const answer = await seen(handle(requestOf(transfer()), ...platformArguments));
    expectProblem(answer, 503, 'deadline_reached');
    let settled = false;
    const all = Promise.all(context.promises).then(() => {
      settled = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toBe(false);
    gate.open();
    await all;
    expect(reports).toMatchObject([
      { outcome: 'failed', late: false },
      { outcome: 'processed', late: true },
    ]);
  }

  test('of the option', async () => {
    const context = new ExecutionContext();
    await expectWaiting(context, [], { waitUntil: (promise) => context.waitUntil(promise) });
  });

  test('of the context of Workers, behind the environment', async () => {
    const context = new ExecutionContext();
    await expectWaiting(context, [{ SIGNING_KEY: 'x' }, context]);
  });

  test('of a context of Hono', async () => {
    const context = new ExecutionContext();
    await expectWaiting(context, [{ executionCtx: context }]);
  });

  test('the option comes before what the platform hands over', async () => {
    const context = new ExecutionContext();
    const other = new ExecutionContext();
    await expectWaiting(context, [other], { waitUntil: (promise) => context.waitUntil(promise) });
    expect(other.promises).toEqual([]);
  });

  test('a context of Hono without one, whose getter throws, changes nothing', async () => {
    const { handle } = mount();
    const context = {
      get executionCtx(): never {
        throw new Error('This context has no ExecutionContext');
      },
    };
    const event = transfer();
    expectAccepted(await seen(handle(requestOf(event), undefined, null, context)), 'processed', event.id);
  });

  const wrong: readonly {
    readonly name: string;
    readonly waitUntil: () => unknown;
    readonly told: string;
  }[] = [
    {
      name: 'throws',
      waitUntil: throwing('outside of a request'),
      told: 'posthorn: waitUntil threw, so that the platform may end what goes on after an answer: outside of a request',
    },
    {
      name: 'returns a promise that rejects',
      waitUntil: () => Promise.reject(new Error('no platform')),
      told: 'posthorn: waitUntil must return nothing, got a promise, which is not waited for',
    },
  ];
  test.each(wrong)('that $name is told of once, and changes no answer', async ({ waitUntil, told }) => {
    const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => emitted.mockRestore());
    const gate = new Gate();
    const { handle, reports } = mount({ deadlineMs: 50 }, () => gate.opened, { waitUntil });
    for (const event of [transfer(), transfer()])
      expectProblem(await seen(handle(requestOf(event))), 503, 'deadline_reached');
    gate.open();
    const event = transfer();
    expectAccepted(await seen(handle(requestOf(event))), 'processed', event.id);
    expect(emitted.mock.calls).toEqual([[told]]);
    await vi.waitFor(() => expect(reports.filter(({ late }) => late)).toHaveLength(2));
  });

  test('it waits for the answer as well, which ends what a sender that hung up has begun', async () => {
    const context = new ExecutionContext();
    const gate = new Gate();
    const { handle } = mount({}, () => gate.opened);
    const answer = handle(requestOf(transfer()), {}, context);
    expect(context.promises).toHaveLength(1);
    gate.open();
    await Promise.all([answer, ...context.promises]);
  });
});
