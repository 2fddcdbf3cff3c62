import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Authentication,
  createReceiver,
  type Delivery,
  type Receiver,
  type ReceiverOptions,
  type Report,
  type WebhookEvent,
} from 'posthorn';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { expect, onTestFinished } from 'vitest';

/** What an adapter mounts. */
export type Mountable = Pick<Receiver, 'receive'>;

export interface Mounted {
  /** Where deliveries go. */
  readonly url: string;
  readonly countConnections: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** Mounts a receiver with the adapter under test, and listens. */
export type Mount = (receiver: Mountable) => Promise<Mounted>;

/** Listens on a port of its own, with `/webhooks` as the place of the mount. */
export async function listen(listener: RequestListener): Promise<Mounted> {
  const server = createServer(listener);
  return { ...(await listening(server)), close: () => closing(server) };
}

async function listening(server: Server): Promise<Omit<Mounted, 'close'>> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const countConnections = (): Promise<number> =>
    new Promise((resolve, reject) =>
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  return { url: `http://127.0.0.1:${port}/webhooks`, countConnections };
}

function closing(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

export const KEY = 'the-signing-key-of-this-endpoint';
export const USERNAME = 'hook-user';
export const PASSWORD = 'hook-password';
export const TOKEN = 'hook-bearer-token';
export const HANDLER_MESSAGE = 'what-a-handler-threw';
export const BASIC = { type: 'BASIC', basic: { username: USERNAME, password: PASSWORD } } as const;
export const BEARER = { type: 'BEARER', bearer: { token: TOKEN } } as const;

/** An answer as any client sees it. */
export interface Seen {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface EndpointOptions {
  readonly options?: Partial<ReceiverOptions>;
  /** Registers handlers; one that takes every transfer by default. */
  readonly register?: (receiver: Receiver) => unknown;
}

/** A receiver behind the adapter under test, with all that it reported. Closed at the end of the test. */
export class Endpoint {
  readonly receiver: Receiver;
  readonly reports: Report[] = [];
  #mounted: Mounted | undefined;
  #arrived = 0;
  #listeners: (() => void)[] = [];

  static async open(mount: Mount, { options, register }: EndpointOptions = {}): Promise<Endpoint> {
    const receiver = createReceiver({ signingKey: KEY, ...options });
    const endpoint = new Endpoint(receiver);
    (register ?? handleTransfers)(receiver);
    const mounted = await mount({ receive: (delivery) => endpoint.#receive(delivery) });
    endpoint.#mounted = mounted;
    onTestFinished(mounted.close);
    return endpoint;
  }

  private constructor(receiver: Receiver) {
    this.receiver = receiver;
    receiver.observe((report) => {
      this.reports.push(report);
      this.#notify();
    });
  }

  get mounted(): Mounted {
    if (this.#mounted === undefined) throw new Error('the endpoint is not mounted yet');
    return this.#mounted;
  }

  get url(): string {
    return this.mounted.url;
  }

  /** Resolves once the adapter has called the receiver `count` times. */
  async arrived(count: number): Promise<void> {
    await this.#until(() => this.#arrived >= count);
  }

  /** The report of the delivery that came at `index`. */
  async report(index = 0): Promise<Report> {
    await this.#until(() => this.reports.length > index);
    const report = this.reports[index];
    if (report === undefined) throw new Error('unreachable: the list has just been seen to be long enough');
    return report;
  }

  /** Sends an event as the service does, with its right signature. */
  send(
    event: object | string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Seen> {
    return seen(deliver(this.url, event, { key: KEY, headers }));
  }

  /** Sends anything. */
  request(init: RequestInit, path = ''): Promise<Seen> {
    return seen(fetch(this.url + path, init));
  }

  #receive(delivery: Delivery): ReturnType<Receiver['receive']> {
    this.#arrived += 1;
    this.#notify();
    return this.receiver.receive(delivery);
  }

  #notify(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#listeners.push(resolve));
  }
}

function handleTransfers(receiver: Receiver): void {
  receiver.on('transfer.*', () => {});
}

export async function seen(answer: Promise<Response>): Promise<Seen> {
  const response = await answer;
  return { status: response.status, headers: new Map(response.headers), body: await response.text() };
}

export function transfer(): WebhookEvent {
  return createEvent('transfer.succeeded');
}

/** The body of an event, and the headers that the service would send with it. */
export function signed(
  event: object = transfer(),
  authentication: Authentication = { type: 'NONE' },
): { body: string; headers: Record<string, string> } {
  const body = JSON.stringify(event);
  return { body, headers: signedHeaders(body, { key: KEY, authentication }) };
}

/** A promise to be opened by hand, for a handler to wait on. */
export class Gate {
  open: () => void = () => {};
  readonly opened: Promise<void> = new Promise((resolve) => {
    this.open = resolve;
  });
}

/** What no answer may hold, whatever happened. */
const SECRETS = [KEY, USERNAME, PASSWORD, TOKEN, HANDLER_MESSAGE];

export function expectAccepted(answer: Seen, outcome: string, id: string): void {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 200,
    body: JSON.stringify({ outcome, id }),
  });
  expect(answer.headers.get('content-type')).toBe('application/json');
}

/** RFC 9457, with the three members of the contract, and nothing that is none of the sender's business. */
export function expectProblem(answer: Seen, status: number, code: string): void {
  expect(JSON.parse(answer.body)).toEqual({ title: expect.stringMatching(/\w/), status, code });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  const text = [answer.body, ...answer.headers.values()].join('\n');
  for (const secret of SECRETS) expect(text).not.toContain(secret);
  expectHeadersOf(status, answer.headers);
}

function expectHeadersOf(status: number, headers: Seen['headers']): void {
  expect(headers.get('allow')).toBe(status === 405 ? 'POST' : undefined);
  expect(headers.get('accept-encoding')).toBe(status === 415 ? 'identity' : undefined);
  expect(headers.has('www-authenticate')).toBe(status === 401);
  expect(headers.has('retry-after')).toBe(status === 503);
  if (status === 503) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
}

/** The one report of the one delivery that there was. */
export async function expectReport(endpoint: Endpoint, expected: Partial<Report>): Promise<Report> {
  const report = await endpoint.report();
  expect(endpoint.reports).toHaveLength(1);
  expect(report).toMatchObject({ late: false, answerSent: true, ...expected });
  return report;
}
