import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { until } from '../../support/until.ts';

/** An answer without an end: `first`, and then spaces for as long as anybody reads them. */
export interface EndlessReply {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly first?: string;
}

export interface EndlessService {
  readonly url: string;
  /** How many bytes its connections have taken in; those in the buffers of the system are among them. */
  readonly sentBytes: () => number;
  /** Resolves once every connection on which it has answered has been ended by the other side. */
  readonly allEnded: () => Promise<void>;
}

const PIECE = Buffer.alloc(65_536, ' ');

function* pieces(first = ''): Generator<Buffer, never, undefined> {
  yield Buffer.from(` ${first}`);
  for (;;) yield PIECE;
}

/** Serves answers without an end until the test is over. */
export async function openEndlessService(reply: EndlessReply): Promise<EndlessService> {
  let sentBytes = 0;
  let open = 0;
  const url = await listenUntilTheEnd(async (request, response) => {
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    request.resume();
    response.writeHead(reply.status ?? 200, reply.headers);
    const answer = Readable.from(pieces(reply.first));
    answer.on('data', ({ length }: Buffer) => {
      sentBytes += length;
    });
    // Rejects when the other side has had enough.
    await pipeline(answer, response).catch(() => {});
  });
  return {
    url,
    sentBytes: () => sentBytes,
    allEnded: () => until('the connections have ended', () => sentBytes > 0 && open === 0),
  };
}
