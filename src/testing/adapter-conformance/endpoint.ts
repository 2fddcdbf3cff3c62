import { createReceiver } from '../../create-receiver.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import type { Delivery, Reply } from '../../receiver/request/delivery.ts';
import type { Receiver, ReceiverOptions } from '../../receiver-interface.ts';
import { deliver } from '../deliver.ts';
import { expectEqual, expectMembers, type Seen, seen } from './answer.ts';
import { KEY } from './delivery.ts';
import type { Serve, ServedAdapter } from './platform.ts';
import { Waits } from './waits.ts';

export interface EndpointSettings {
  readonly options?: Partial<ReceiverOptions>;
  /** Registers handlers; by default one that takes every transfer, and keeps its id in `handled`. */
  readonly register?: ((receiver: Receiver) => unknown) | undefined;
  readonly waits?: Waits;
  /** Gives up what is sent. */
  readonly signal?: AbortSignal;
}

/** A receiver behind the adapter under test, with all that it reported. */
export class Endpoint {
  readonly receiver: Receiver;
  readonly reports: Report[] = [];
  /** The deliveries that the adapter handed over, in order. */
  readonly deliveries: Delivery[] = [];
  readonly handled: string[] = [];
  readonly #waits: Waits;
  readonly #signal: AbortSignal | undefined;
  #served: ServedAdapter | undefined;
  #listeners: (() => void)[] = [];

  static async open(serve: Serve, settings: EndpointSettings = {}): Promise<Endpoint> {
    const receiver = createReceiver({ signingKey: KEY, ...settings.options });
    const endpoint = new Endpoint(receiver, settings);
    if (settings.register === undefined) receiver.on('*', ({ id }) => endpoint.handled.push(id));
    else settings.register(receiver);
    endpoint.#served = await serve({ receive: (delivery) => endpoint.#receive(delivery) });
    return endpoint;
  }

  private constructor(receiver: Receiver, { waits = new Waits(), signal }: EndpointSettings) {
    this.receiver = receiver;
    this.#waits = waits;
    this.#signal = signal;
    receiver.observe((report) => {
      this.reports.push(report);
      this.#notify();
    });
  }

  get served(): ServedAdapter {
    if (this.#served === undefined) throw new Error('the endpoint is not served yet');
    return this.#served;
  }

  get url(): string {
    return this.served.url;
  }

  /** Resolves once the adapter has called the receiver `count` times. */
  async arrived(count: number): Promise<void> {
    await this.#until('receive to be called', () => this.deliveries.length >= count);
  }

  /** The report of the delivery that came at `index`. */
  async report(index = 0): Promise<Report> {
    await this.#until('the report of a delivery', () => this.reports.length > index);
    const report = this.reports[index];
    if (report === undefined) throw new Error('unreachable: the list has just been seen to be long enough');
    return report;
  }

  /** Sends an event as the service does, with its right signature. */
  send(event: object | string | Uint8Array, headers: Record<string, string> = {}): Promise<Seen> {
    return this.#answer(deliver(this.url, event, { key: KEY, headers, signal: this.#signal }));
  }

  /** Sends anything. */
  request(init: RequestInit, path = ''): Promise<Seen> {
    return this.#answer(fetch(this.url + path, { ...init, signal: this.#signal ?? null }));
  }

  #answer(response: Promise<Response>): Promise<Seen> {
    const answer = this.#waits.for('the answer to a delivery', seen(response));
    // A case may fail before it comes to this answer, which then fails too.
    answer.catch(() => {});
    return answer;
  }

  #receive(delivery: Delivery): Promise<Reply> {
    this.deliveries.push(delivery);
    this.#notify();
    return this.receiver.receive(delivery);
  }

  #notify(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }

  async #until(what: string, condition: () => boolean): Promise<void> {
    while (!condition()) {
      await this.#waits.for(what, new Promise<void>((resolve) => this.#listeners.push(resolve)));
    }
  }
}

/** The one report of the one delivery that there was. */
export async function expectReport(endpoint: Endpoint, expected: Partial<Report>): Promise<Report> {
  const report = await endpoint.report();
  expectEqual(endpoint.reports.length, 1, 'the number of reports of one delivery');
  expectMembers(report, { late: false, answerSent: true, ...expected }, 'the report of the delivery');
  return report;
}

/** All reports that there were, in order. */
export function expectReports(endpoint: Endpoint, expected: readonly Partial<Report>[]): void {
  expectEqual(endpoint.reports.length, expected.length, 'the number of reports');
  for (const [index, members] of expected.entries()) {
    expectMembers(endpoint.reports[index] ?? {}, members, `report ${index + 1}`);
  }
}
