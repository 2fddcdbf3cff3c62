import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { TypeList } from '../receiver/events/type-list.ts';
import { checkedFormOf } from '../receiver/provider/checked-provider.ts';
import type { Provider } from '../receiver/provider/provider.ts';
import { readHeaders } from '../receiver/request/headers.ts';
import { SentHeaders } from '../receiver/request/single-headers.ts';
import { AnswerBody, MAX_ANSWER_BYTES } from '../service/shapes/answer-body.ts';
import { createSampleData } from '../service/shapes/sample-data.ts';
import { testingOf } from '../testing/played-provider.ts';
import { signedHeaders } from '../testing/signed-headers.ts';
import { defineCommand } from './define-command.ts';
import { type EventOptions, eventOptions, readEventData, requireListedType } from './event-options.ts';
import { CommandError, setFailed, usageError } from './failure.ts';
import { reasonOf } from './forward.ts';
import {
  addressOf,
  type JsonOption,
  parseUrl,
  requireSigning,
  type SigningOptions,
  signingOptions,
} from './options.ts';
import { createOutput } from './output.ts';
import { canSetHeader, type ProviderOptions, providerOptions, readProvider } from './provider-option.ts';
import { adviceOn, lineOfAdvice } from './refusal-advice.ts';
import { type Sender, sendSender } from './sender-advice.ts';
import { colours, line, TerminalText } from './terminal-text.ts';

interface SendOptions extends JsonOption, SigningOptions, EventOptions, ProviderOptions {
  readonly to: string;
  readonly twice?: boolean;
  readonly tamper?: boolean;
}

const HELP = `
Makes up an event and signs it as the sender would. Its data is a sample; for the banking service its state fits the
type. --data replaces all of it: a JSON object, or a file that holds one.
A provider of your own needs the member testing, which plays its sender.
Below a refusal a second line says what it means, and what to do.
--age makes the event old from the start: a receiver with dead letters parks one of 14m whose handler fails.

Exit codes: 0 every answer was 2xx, 1 one was not, 2 wrong usage, 3 no answer within 30 seconds.

Examples:
  $ SIGNING_KEY=… posthorn send transfer.succeeded --to http://127.0.0.1:3000/webhooks
  $ SIGNING_KEY=… BEARER_TOKEN=… posthorn send dispute.created --to https://example.com/webhooks --data dispute.json
  $ SIGNING_KEY=… posthorn send transfer.failed --to http://127.0.0.1:3000/webhooks --twice --json
  $ SIGNING_KEY=… posthorn send transfer.reversed --to http://127.0.0.1:3000/webhooks --any
  $ SIGNING_KEY=… posthorn send transfer.failed --to http://127.0.0.1:3000/webhooks --age 14m
  $ SIGNING_KEY=… posthorn send transfer.failed --to http://127.0.0.1:3000/webhooks --tamper   # expect 403
  $ SIGNING_KEY=whsec_… posthorn send invoice.paid --provider stripe --to http://127.0.0.1:3000/webhooks/stripe`;

/** `posthorn send` */
export function addSend(program: Command): void {
  defineCommand(program, 'send', 'send a signed event, and print the answer', HELP, [
    new Option('--to <url>', 'the address of the receiver').makeOptionMandatory(),
    ...signingOptions(),
    ...eventOptions(),
    new Option('--twice', 'send the same event a second time, after the first answer'),
    new Option('--tamper', 'change the body after it was signed: add a space at its end'),
    ...providerOptions(),
  ])
    .argument('<type>', 'the type of the event, for example transfer.succeeded')
    .action(send);
}

async function send(type: string, options: SendOptions): Promise<void> {
  const output = createOutput(options);
  const url = parseUrl('--to', options.to);
  const signing = requireSigning(options);
  const provider = await readProvider(options, output.json);
  const types = provider.types && new TypeList(provider.types);
  if (types !== undefined)
    requireListedType(
      type,
      options,
      (nearest) => `; the nearest is ${nearest}. For another sender give --provider.`,
      types,
    );
  const event = { id: options.id ?? `evt_${randomUUID()}`, type };
  const body = JSON.stringify(await createWantedEvent(event, provider, options));
  const headers = signedHeaders(body, { ...signing, provider, event });
  if (options.age !== undefined) checkDated(provider, body, headers);
  const sender = sendSender(provider.name, canSetHeader(provider));

  for (let left = options.twice ? 2 : 1; left > 0; left -= 1) {
    const answer = await post(url, { headers, body: options.tamper ? `${body} ` : body }, sender);
    const isGood = answer.status >= 200 && answer.status <= 299;
    if (!isGood) setFailed();
    const advice = adviceOn({ url: url.href, headers, changed: options.tamper, ...answer }, sender);
    output.print({ event: event.id, type, ...answer, advice }, () => {
      const status = (isGood ? colours.good : colours.bad)(String(answer.status));
      return [
        line`${status} ${type} ${event.id} ${colours.minor(`${answer.durationMs} ms`)}`,
        ...(advice === undefined ? [] : [lineOfAdvice(advice)]),
        ...(answer.body === '' ? [] : [TerminalText.paragraph(answer.body)]),
      ];
    });
    if (answer.truncated)
      output.note(`the answer is longer than ${MAX_ANSWER_BYTES} bytes: the rest was not read`);
  }
}

async function createWantedEvent(
  event: { readonly id: string; readonly type: string },
  provider: Provider,
  { data, age = 0 }: SendOptions,
): Promise<object> {
  const { createEvent } = testingOf(provider);
  // The banking service's own sample has a state that fits the type.
  const sample = canSetHeader(provider) ? createSampleData(event.type) : undefined;
  const createdAtMs = Date.now() - age;
  return createEvent({
    ...event,
    createdAtMs,
    data: data === undefined ? sample : await readEventData(data),
  });
}

/** Throws a usage error for an event without a time, which cannot be old. */
function checkDated(provider: Provider, body: string, headers: SentRequest['headers']): void {
  const sent = new SentHeaders(readHeaders(headers));
  const read = checkedFormOf(provider).readEvent({ rawBody: Buffer.from(body), headers: sent });
  if (read.createdAtMs === undefined)
    throw usageError(`--age: the events of ${provider.name} do not have a time here, so they are never old`);
}

interface SentRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  /** The status decides, as it does for the service, so a long answer is cut rather than refused. */
  readonly truncated?: boolean;
  readonly durationMs: number;
}

/** The service gives up on an answer after this time (interface, "Limits"). */
const ANSWER_LIMIT_MS = 30_000;

async function post(url: URL, request: SentRequest, sender: Sender): Promise<Answer> {
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
  try {
    const response = await fetch(url, { method: 'POST', ...request, signal, redirect: 'manual' });
    const answer = new AnswerBody();
    await answer.read(response);
    const durationMs = Math.round(performance.now() - startedAt);
    return {
      status: response.status,
      body: answer.text(),
      ...(answer.isCut && { truncated: true }),
      durationMs,
    };
  } catch (cause) {
    const error = reasonOf(cause);
    const advice = adviceOn({ url: url.href, headers: request.headers, error }, sender);
    const message = [`no answer from ${addressOf(url)}: ${error}`, advice].filter(
      (part) => part !== undefined,
    );
    throw new CommandError('unreachable', message.join('; '), { cause });
  }
}
