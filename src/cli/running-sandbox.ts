import { Option } from 'commander';
import * as z from 'zod';
import type { DeliveryAttempt, DeliveryFilter } from '../service/sandbox/index.ts';
import { deliveryAttempt } from '../service/sandbox/state.ts';
import { AnswerBody } from '../service/shapes/answer-body.ts';
import { listOf } from '../service/shapes/list-of.ts';
import { parseJson } from '../service/shapes/parse-json.ts';
import { CommandError } from './failure.ts';
import { reasonOf } from './forward.ts';
import { addressOf, parseUrl } from './options.ts';
import { programName } from './program-name.ts';
import { DEFAULT_ADDRESS } from './sandbox-server.ts';

/** The address of a running sandbox. */
export interface RunningOption {
  readonly sandbox: string;
}

export function runningOption(): Option {
  return new Option('--sandbox <url>', 'the address of the running sandbox')
    .env('POSTHORN_SANDBOX')
    .default(DEFAULT_ADDRESS);
}

/** The time limit of an answer that needs no delivery. */
const ANSWER_LIMIT_MS = 10_000;

/** The time limit of an answer after two deliveries, one after the other, with 30 seconds each. */
const DELIVERY_LIMIT_MS = 75_000;

/** The time limit of a step of its clock: retries of several events may fall due on the way. */
const STEP_LIMIT_MS = 290_000;

/** The sandbox keeps the last 1,000 deliveries: a mebibyte or two, more if events or answers are long. */
const MAX_ANSWER_BYTES = 16_777_216;

const refusal = z.object({ message: z.string(), details: z.string().optional() });

interface HappenedEvent {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
}

const happenedEvent: z.ZodType<HappenedEvent> = z.object({
  id: z.string(),
  type: z.string(),
  created_at: z.string(),
});

/** The time of a sandbox after a step. */
interface Step {
  /** The time, in milliseconds since the epoch. */
  readonly now: number;
  /** If the sandbox ages events: how much older the step has made those that have not ended. */
  readonly agedMs?: number | undefined;
}

const time: z.ZodType<Step> = z.object({
  now: z.iso.datetime().transform((text) => Date.parse(text)),
  agedMs: z.int().optional(),
});

interface SendRequest {
  readonly type: string;
  readonly ageMs?: number;
  /** Both events are delivered before the sandbox answers. */
  readonly outOfOrder?: boolean;
}

interface Question {
  /** Posted as JSON; without it the request is a GET. */
  readonly body?: object;
  readonly limitMs?: number;
}

interface Fetched {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
}

/** The controls of a sandbox that runs as a program of its own. */
export class RunningSandbox {
  readonly #url: URL;

  /** An empty address means none, as everywhere. */
  constructor({ sandbox }: RunningOption) {
    this.#url = parseUrl('--sandbox', sandbox === '' ? DEFAULT_ADDRESS : sandbox);
  }

  send(request: SendRequest): Promise<HappenedEvent> {
    const limitMs = request.outOfOrder ? DELIVERY_LIMIT_MS : ANSWER_LIMIT_MS;
    return this.#ask(happenedEvent, 'events', { body: request, limitMs });
  }

  /** Its time, in milliseconds since the epoch. */
  async now(): Promise<number> {
    return (await this.#ask(time, 'clock')).now;
  }

  /** Resolves once every delivery that falls due on the way is answered. */
  advance(step: { readonly advanceMs: number } | { readonly toNextRetry: true }): Promise<Step> {
    const limitMs = 'advanceMs' in step && step.advanceMs === 0 ? DELIVERY_LIMIT_MS : STEP_LIMIT_MS;
    return this.#ask(time, 'clock', { body: step, limitMs });
  }

  deliveries(filter: DeliveryFilter = {}): Promise<readonly DeliveryAttempt[]> {
    const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== undefined));
    return this.#ask(listOf(deliveryAttempt), `deliveries?${query}`);
  }

  async #ask<T>(schema: z.ZodType<T>, control: string, question: Question = {}): Promise<T> {
    const { ok, status, text } = await this.#fetch(control, question);
    const answer = parseJson(text);
    const { data } = schema.safeParse(answer);
    if (ok && data !== undefined) return data;
    const refused = refusal.safeParse(answer).data;
    if (refused === undefined || status === 404) {
      throw new CommandError('failed', `the server at ${addressOf(this.#url)} is not a sandbox of posthorn`);
    }
    const { message, details } = refused;
    throw new CommandError('failed', details === undefined ? message : `${message}: ${details}`);
  }

  async #fetch(control: string, question: Question): Promise<Fetched> {
    const address = `${this.#url.href.replace(/\/$/, '')}/sandbox/${control}`;
    const { body, limitMs = ANSWER_LIMIT_MS } = question;
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const signal = AbortSignal.timeout(limitMs);
    const answer = new AnswerBody(MAX_ANSWER_BYTES);
    try {
      const response = await fetch(address, { ...(body && { ...post, body: JSON.stringify(body) }), signal });
      await answer.read(response);
      if (!answer.isCut) return { ok: response.ok, status: response.status, text: answer.text() };
    } catch (cause) {
      throw this.#unreachable(signal.aborted ? `not within ${limitMs / 1_000} s` : reasonOf(cause), cause);
    }
    throw new CommandError(
      'failed',
      `the answer of ${addressOf(this.#url)} is longer than ${MAX_ANSWER_BYTES} bytes, and the rest was not read: ` +
        `${programName()} deliveries takes --event and --webhook`,
    );
  }

  #unreachable(reason: string, cause: unknown): CommandError {
    const posthorn = programName();
    return new CommandError(
      'unreachable',
      `no sandbox answers at ${addressOf(this.#url)} (${reason}): start one with ${posthorn} dev or ` +
        `${posthorn} sandbox, or say where it is with --sandbox or POSTHORN_SANDBOX`,
      { cause },
    );
  }
}
