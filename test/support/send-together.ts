import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { signedHeaders } from 'posthorn/testing';
import { KEY } from './served.ts';

/**
 * Sends signed events, each on a connection that is there already, in one moment; resolves with the bodies of
 * the answers.
 */
export async function sendTogether(url: string, events: readonly object[]): Promise<unknown[]> {
  const { hostname, host, port, pathname } = new URL(url);
  const sendings = events.map(async (event) => {
    const body = JSON.stringify(event);
    const headers = { host, connection: 'close', 'content-length': Buffer.byteLength(body) };
    const fields = Object.entries({ ...headers, ...signedHeaders(body, { key: KEY }) });
    const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return { socket, request: `POST ${pathname} HTTP/1.1\r\n${head}\r\n${body}` };
  });
  const ready = await Promise.all(sendings);
  const answers = ready.map(({ socket, request }) => {
    socket.write(request);
    return text(socket);
  });
  return (await Promise.all(answers)).map((answer) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))));
}
