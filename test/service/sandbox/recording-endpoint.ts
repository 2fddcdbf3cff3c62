import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { Seen } from '../../support/seen.ts';
import { createWebhook, openSandbox } from './opened-sandbox.ts';

/** A request as it came. */
export interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly body: {
    readonly id: string;
    readonly type: string;
    readonly created_at: string;
    readonly data: object;
  };
}

export interface RecordingEndpoint {
  readonly url: string;
  readonly received: Seen<Received>;
}

/** An http server by hand: it records what comes, and answers as told; 204 by default. */
export async function record(
  answer: (response: ServerResponse, received: Received) => void = (response) =>
    void response.writeHead(204).end(),
): Promise<RecordingEndpoint> {
  const received = new Seen<Received>();
  const url = await listenUntilTheEnd(async (request, response) => {
    const bytes = await buffer(request);
    const { method, url: path, headers } = request;
    const entry = { method, path, headers, bytes, body: JSON.parse(bytes.toString('utf8')) };
    received.add(entry);
    answer(response, entry);
  });
  return { url: `${url}/hooks`, received };
}

/** Answers the given statuses in turn, and 200 after the last. */
export function statuses(...list: readonly number[]): (response: ServerResponse) => void {
  let count = 0;
  return (response) => {
    response.writeHead(list[count] ?? 200).end();
    count += 1;
  };
}

/** A sandbox with a webhook of a recording endpoint; `more` are further members of the webhook. */
export async function openRecorded(more = '') {
  const opened = await openSandbox();
  const endpoint = await record();
  const webhook = await createWebhook(opened, `{"url":"${endpoint.url}"${more}}`);
  return { opened, endpoint, ...webhook };
}
