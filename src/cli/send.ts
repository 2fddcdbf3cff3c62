import { type Command, Option } from 'commander';
import type { WebhookEvent } from '../providers/banking-service/event.ts';
import { AnswerBody, MAX_ANSWER_BYTES } from '../service/shapes/answer-body.ts';
import { createEvent } from '../testing/create-event.ts';
import { signedHeaders } from '../testing/signed-headers.ts';
import { defineCommand } from './define-command.ts';
import { type EventOptions, eventOptions, readEventData, requireListedType } from './event-options.ts';
import { CommandError, setFailed } from './failure.ts';
import { reasonOf } from './forward.ts';
import {
  addressOf,
  type JsonOption,
  parseUrl,
  requireSigning,
  type SigningOptions,
  signatureHeaderOption,
  signingOptions,
} from './options.ts';
import { createOutput } from './output.ts';
import { adviceOn, lineOfAdvice } from './refusal-advice.ts';
import { sendSender } from './sender-advice.ts';
import { colours, line, TerminalText } from './terminal-text.ts';

interface SendOptions extends JsonOption, SigningOptions, EventOptions {
  readonly to: string;
  readonly twice?: boolean;
  readonly tamper?: boolean;
  readonly signatureHeader: string;
}

const HELP = `
Makes up an event and signs it as the service would. Its data is a sample with a state that fits the type.
--data replaces all of it: a JSON object, or a file that holds one.
Below a refusal a second line says what it means, and what to do.
--age makes the event old from the start: a receiver with dead letters parks one of 14m whose handler fails.

Exit codes: 0 every answer was 2xx, 1 one was not, 2 wrong usage, 3 no answer within 30 seconds.

Examples:
  $ SIGNING_KEY=… posthorn send transfer.succeeded --to http://127.0.0.1:3000/webhooks
  $ SIGNING_KEY=… BEARER_TOKEN=… posthorn send dispute.created --to https://example.com/webhooks --data dispute.json
  $ SIGNING_KEY=… posthorn send transfer.failed --to http://127.0.0.1:3000/webhooks --twice --json
  $ SIGNING_KEY=… posthorn send transfer.reversed --to http://127.0.0.1:3000/webhooks --any
  $ SIGNING_KEY=… posthorn send transfer.failed --to http://127.0.0.1:3000/webhooks --age 14m
  $ SIGNING_KEY=… posthorn send transfer.failed --to http://127.0.0.1:3000/webhooks --tamper   # expect 403`;

/** `posthorn send` */
export function addSend(program: Command): void {
  defineCommand(program, 'send', 'send a signed event, and print the answer', HELP, [
    new Option('--to <url>', 'the address of the receiver').makeOptionMandatory(),
    ...signingOptions(),
    ...eventOptions(),
    new Option('--twice', 'send the same event a second time, after the first answer'),
    new Option('--tamper', 'change the body after it was signed: add a space at its end'),
    signatureHeaderOption(),
  ])
    .argument('<type>', 'the type of the event, for example transfer.succeeded')
    .action(send);
}

async function send(type: string, options: SendOptions): Promise<void> {
  const output = createOutput(options);
  const url = parseUrl('--to', options.to);
  const signing = { ...requireSigning(options), signatureHeader: options.signatureHeader };
  requireListedType(type, options, (nearest) => `; the nearest is ${nearest}.`);
  const event = await createWantedEvent(type, options);
  const body = JSON.stringify(event);
  const headers = signedHeaders(body, signing);

  for (let left = options.twice ? 2 : 1; left > 0; left -= 1) {
    const answer = await post(url, headers, options.tamper ? `${body} ` : body);
    const isGood = answer.status >= 200 && answer.status <= 299;
    if (!isGood) setFailed();
    const advice = adviceOn({ url: url.href, headers, changed: options.tamper, ...answer }, sendSender());
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
  type: string,
  { data, id, age = 0 }: SendOptions,
): Promise<WebhookEvent<string, unknown>> {
  const any = { any: true } as const; // the type has been checked, unless --any was given
  const event =
    data === undefined
      ? createEvent(type, undefined, any)
      : createEvent(type, await readEventData(data), any);
  const created_at = new Date(Date.parse(event.created_at) - age).toISOString();
  return { ...event, created_at, ...(id !== undefined && { id }) };
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

async function post(url: URL, headers: Record<string, string>, body: string): Promise<Answer> {
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
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
    const advice = adviceOn({ url: url.href, headers, error }, sendSender());
    const message = [`no answer from ${addressOf(url)}: ${error}`, advice].filter(
      (part) => part !== undefined,
    );
    throw new CommandError('unreachable', message.join('; '), { cause });
  }
}
