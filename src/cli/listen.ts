import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { type Command, Option } from 'commander';
import { toNode } from '../../adapters/node.ts';
import { createReceiver } from '../create-receiver.ts';
import { type Report, warningCodeOf } from '../receiver/outcomes/report.ts';
import type { EventIdentity } from '../receiver/provider/event-identity.ts';
import type { Delivery } from '../receiver/request/delivery.ts';
import { readHeaders } from '../receiver/request/headers.ts';
import { messageOf, propertyOf } from '../receiver/values/foreign-values.ts';
import type { Mountable } from '../receiver-interface.ts';
import { defineCommand } from './define-command.ts';
import { setFailed } from './failure.ts';
import { forwardTo } from './forward.ts';
import { createOtherSenders } from './named-providers.ts';
import {
  type JsonOption,
  listenOptions,
  parseUrl,
  requireSigning,
  type SigningOptions,
  signingOptions,
} from './options.ts';
import { createReadingOutput, jsonOf, type Output } from './output.ts';
import { type ProviderOptions, providerOptions, readProvider } from './provider-option.ts';
import { lineOfAdvice } from './refusal-advice.ts';
import { serve, untilSignal } from './server.ts';
import { colours, joined, line, type Printable, type TerminalText } from './terminal-text.ts';

interface ListenOptions extends JsonOption, SigningOptions, ProviderOptions {
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly forward?: string;
}

const HELP = `
It answers as a posthorn receiver does: a handled event that comes again is a duplicate.
Ids are kept in memory: after a restart every event is new.
If a request has the signature of another sender, a second line says which --provider takes it.

--forward posts each verified event to another address, with the same bytes and headers
(including signature and authorization, so that the receiver behind can check them; headers of the connection are not
passed on). Any answer but 2xx, even a redirect, is answered 500, so that the service sends the event again.

Ends on SIGINT or SIGTERM, once the running deliveries are answered.
Exit codes: 0 ended by a signal, 1 it had to abandon an event, 2 wrong usage, or the port is taken.

Examples:
  $ SIGNING_KEY=… posthorn listen
  $ SIGNING_KEY=… BASIC_USERNAME=billing BASIC_PASSWORD=… posthorn listen --forward http://127.0.0.1:8080/webhooks
  $ SIGNING_KEY=whsec_… posthorn listen --provider stripe --path /webhooks/stripe
  $ SIGNING_KEY=… posthorn listen --json | jq 'select(.kind == "event") | .event.data'`;

/** `posthorn listen` */
export function addListen(program: Command): void {
  defineCommand(program, 'listen', 'receive webhooks and print them', HELP, [
    ...listenOptions(3000),
    new Option('--path <path>', 'the path to receive on').default('/webhooks'),
    new Option('--forward <url>', 'pass verified events on to this address'),
    ...signingOptions(),
    ...providerOptions(),
  ]).action(listen);
}

async function listen({ port, host, path, ...options }: ListenOptions): Promise<void> {
  const output = createReadingOutput(options);
  const { key, authentication } = requireSigning(options);
  const target = options.forward === undefined ? undefined : parseUrl('--forward', options.forward);
  const provider = await readProvider(options, output.json);
  const adviceFor = await createOtherSenders(provider);
  const receiver = createReceiver({ provider, signingKey: key, authentication });
  const headersOfDelivery = new AsyncLocalStorage<Delivery['headers']>();
  receiver.observe((report) => {
    const headers = headersOfDelivery.getStore();
    const isMissing = headers !== undefined && report.code === 'signature_missing';
    printReport(output, report, isMissing ? adviceFor(readHeaders(headers)) : undefined);
  });
  receiver.on('*', async (event, context) => {
    printEvent(output, event, context.event);
    if (target !== undefined) await forwardTo(target, context, headersOfDelivery.getStore() ?? {});
  });
  // Handlers and observers get a delivery without its headers.
  const mounted: Mountable = {
    receive: (delivery) => headersOfDelivery.run(delivery.headers, () => receiver.receive(delivery)),
    hasSignature: (headers) => receiver.hasSignature(headers),
    reportMisdirected: (headers, paths) => receiver.reportMisdirected(headers, paths),
  };

  const server = createServer(toNode(mounted, { path }));
  const signalled = untilSignal();
  const url = `${await serve(server, port, host)}${path}`;
  output.print({ kind: 'listening', url }, () => line`${colours.strong('listening')} on ${url}`);
  await signalled;
  server.close();
  const { abandoned } = await receiver.close();
  if (abandoned.length > 0) setFailed();
}

function printEvent(output: Output, event: object, { id, type, createdAtMs }: EventIdentity): void {
  output.print({ kind: 'event', event }, () => {
    const createdAt = createdAtMs === undefined ? '' : ` ${new Date(createdAtMs).toISOString()}`;
    return line`${colours.strong(type)} ${id}${createdAt} ${jsonOf(propertyOf(event, 'data') ?? event)}`;
  });
}

/** This program soon ends, so it needs neither dead letters nor a queue. */
const HIDDEN_WARNINGS: ReadonlySet<string> = new Set(['dead_letters_missing', 'deadline_short']);

function printReport(output: Output, report: Report, advice: string | undefined): void {
  const { error, ...rest } = report;
  const warnings = report.warnings.filter((warning) => !HIDDEN_WARNINGS.has(warningCodeOf(warning)));
  const value = { kind: 'report', ...rest, warnings, ...(error && { message: messageOf(error) }), advice };
  output.print(value, () => [
    lineOf({ ...report, warnings }),
    ...(advice === undefined ? [] : [lineOfAdvice(advice)]),
  ]);
}

function lineOf(report: Report): TerminalText {
  const { outcome, status, late, event, attempt, durationMs, warnings, error, endpointAtRisk } = report;
  const after = late ? ' (after its answer)' : '';
  const parts: Printable[] = [line`  ${colourOf(outcome)(`${outcome} ${status}`)}${after}`];
  if (event !== undefined) parts.push(`${event.type ?? '?'} ${event.id}`);
  if (attempt !== undefined) parts.push(`attempt ${attempt}`);
  parts.push(colours.minor(`${Math.round(durationMs)} ms`));
  if (error !== undefined) parts.push(`${error.code}: ${messageOf(error)}`);
  parts.push(...warnings.map(colours.doubtful));
  if (endpointAtRisk) parts.push(colours.bad('the service may now stop sending'));
  return joined(parts);
}

function colourOf(outcome: Report['outcome']): (text: string) => TerminalText {
  switch (outcome) {
    case 'processed':
    case 'handshake':
      return colours.good;
    case 'duplicate':
    case 'ignored':
      return colours.minor;
    case 'busy':
    case 'parked':
      return colours.doubtful;
    case 'queued':
    case 'rejected':
    case 'failed':
      return colours.bad;
  }
}
