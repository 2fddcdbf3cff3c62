import type { Receiver, Report } from 'posthorn';
import { deliver } from 'posthorn/testing';
import { awaitedLater } from '../../support/awaited-later.ts';
import { KEY, serve as serveReceiver } from '../../support/served.ts';

export { KEY };

export interface Answered {
  readonly status: number;
  /** Of a 2xx. */
  readonly outcome?: string;
  /** Of anything else. */
  readonly code?: string;
  readonly durationMs: number;
}

/** Serves a receiver on a free port until the test ends; resolves with what delivers to it. */
export async function serve(
  receiver: Pick<Receiver, 'receive'>,
): Promise<(event: object) => Promise<Answered>> {
  const url = await serveReceiver(receiver);
  return (event) => send(url, event);
}

/** Delivers an event and reads the answer, which may be awaited later. */
export function send(url: string, event: object): Promise<Answered> {
  return awaitedLater(sendAndRead(url, event));
}

async function sendAndRead(url: string, event: object): Promise<Answered> {
  const startedAt = performance.now();
  const response = await deliver(url, event, { key: KEY });
  const { outcome, code } = (await response.json()) as { outcome?: string; code?: string };
  const durationMs = performance.now() - startedAt;
  return { status: response.status, durationMs, ...(outcome && { outcome }), ...(code && { code }) };
}

/** Keeps the reports of a receiver. */
export function reportsOf(receiver: Pick<Receiver, 'observe'>): Report[] {
  const reports: Report[] = [];
  receiver.observe((report) => reports.push(report));
  return reports;
}
