import { createReceiver, type Receiver, type Report } from 'posthorn';
import type { EndpointOptions } from './open-endpoint.ts';
import { KEY } from './served.ts';

/** A receiver that handles every event, and what it has reported so far. */
export function receiverWithReports(options: EndpointOptions = {}): {
  readonly receiver: Receiver;
  readonly reports: readonly Report[];
} {
  const reports: Report[] = [];
  const receiver = createReceiver({ signingKey: KEY, ...options }).on('*', () => {});
  receiver.observe((report) => reports.push(report));
  return { receiver, reports };
}
