import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { signedHeaders } from 'posthorn/testing';
import { KEY } from './served.ts';

/** Connections that are made at once. */
const CONNECTING = 100;

/**
 * Sends signed events, each on a connection that is there already, in one moment, which `onBegin` is told of;
 * resolves with the bodies of the answers.
 */
export async function sendTogether(
  url: string,
  events: readonly object[],
  onBegin: () => void = () => {},
): Promise<unknown[]> {
  const { hostname, host, port, pathname } = new URL(url);
  const prepare = async (event: object) => {
    const body = JSON.stringify(event);
    const headers = { host, connection: 'close', 'content-length': Buffer.byteLength(body) };
    const fields = Object.entries({ ...headers, ...signedHeaders(body, { key: KEY }) });
    const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return { socket, request: `POST ${pathname} HTTP/1.1\r\n${head}\r\n${body}` };
  };
  const ready = [];
  // A server keeps few connections that it has not accepted yet.
  for (let first = 0; first < events.length; first += CONNECTING)
    ready.push(...(await Promise.all(events.slice(first, first + CONNECTING).map(prepare))));
  onBegin();
  const answers = ready.map(({ socket, request }) => {
    socket.write(request);
    return text(socket);
  });
  return (await Promise.all(answers)).map((answer) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))));
}
