import { randomBytes, randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AnyEvent, Authentication } from 'posthorn';

/** The settings that the examples take from the environment. */
export const port: number = Number(process.env.PORT ?? 3000);

/** `SIGNING_KEY`, or one made up for this run. */
export const signingKey: string = process.env.SIGNING_KEY ?? randomBytes(32).toString('hex');

/** `BASIC_USERNAME` and `BASIC_PASSWORD`, or `BEARER_TOKEN`, or none. */
export const authentication: Authentication = readAuthentication(process.env);

function readAuthentication({
  BASIC_USERNAME,
  BASIC_PASSWORD,
  BEARER_TOKEN,
}: NodeJS.ProcessEnv): Authentication {
  if (BASIC_USERNAME !== undefined || BASIC_PASSWORD !== undefined) {
    return { type: 'BASIC', basic: { username: BASIC_USERNAME ?? '', password: BASIC_PASSWORD ?? '' } };
  }
  return BEARER_TOKEN === undefined ? { type: 'NONE' } : { type: 'BEARER', bearer: { token: BEARER_TOKEN } };
}

/** Prints an event on one line. */
export function printEvent(event: AnyEvent): void {
  console.log(`${event.created_at} ${event.type} ${event.id} ${JSON.stringify(event.data)}`);
}

/** Prints the address of the server, and a command that sends a signed event to it. */
export function announce(server: Server | { readonly port: number }, path = '/webhooks'): void {
  const { port: actualPort } = 'port' in server ? server : (server.address() as AddressInfo);
  const url = `http://127.0.0.1:${actualPort}${path}`;
  if (process.env.SIGNING_KEY === undefined) console.log(`signing key, made up for this run: ${signingKey}`);
  console.log(`send a signed event:\n${sampleCommand(url)}`);
  console.log(`listening on ${url}`);
}

function sampleCommand(url: string): string {
  const event = {
    id: `evt_${randomUUID()}`,
    type: 'transfer.succeeded',
    created_at: new Date().toISOString(),
    data: { id: 'TR_sample', state: 'SUCCEEDED', amount: 1250 },
  };
  const signature = `$(printf %s "$body" | openssl dgst -sha256 -hmac ${quote(signingKey)} | sed 's/^.* //')`;
  return [
    `body=${quote(JSON.stringify(event))}; curl -sS -w '\\n' ${url}`,
    ...credentials(),
    `-H 'content-type: application/json' -H "x-service-signature: ${signature}" --data-raw "$body"`,
  ].join(' ');
}

function credentials(): string[] {
  switch (authentication.type) {
    case 'NONE':
      return [];
    case 'BASIC':
      return ['-u', quote(`${authentication.basic.username}:${authentication.basic.password}`)];
    case 'BEARER':
      return ['-H', quote(`authorization: Bearer ${authentication.bearer.token}`)];
  }
}

/** Quotes for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A server, a worker or a queue. */
interface Closable {
  readonly close: () => unknown;
}

/** A receiver, or several as one. */
interface ClosableReceiver {
  readonly close: () => Promise<{ readonly abandoned: readonly unknown[] }>;
}

/** On SIGTERM and SIGINT: nothing new is accepted, what runs is finished, and then the queue is closed. */
export function closeOnSignal(source: Closable, receiver: ClosableReceiver, queue?: Closable): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, async () => {
      await source.close();
      const { abandoned } = await receiver.close();
      await queue?.close();
      process.exit(abandoned.length === 0 ? 0 : 1);
    });
  }
}
