import { Option } from 'commander';
import { z } from 'zod';
import { messageOf } from '../errors.ts';
import type { DeliveryAttempt, DeliveryFilter } from '../sandbox/index.ts';
import { deliveryAttempt } from '../sandbox/state.ts';
import { CommandError } from './failure.ts';
import { reasonOf } from './forward.ts';
import { addressOf, parseUrl } from './options.ts';
import { SANDBOX_PORT } from './sandbox-server.ts';

const DEFAULT_ADDRESS = `http://127.0.0.1:${SANDBOX_PORT}`;

/** The address of a sandbox that runs already. */
export interface RunningOption {
  readonly sandbox: string;
}

export function runningOption(): Option {
  return new Option('--sandbox <url>', 'the address of the running sandbox')
    .env('POSTHORN_SANDBOX')
    .default(DEFAULT_ADDRESS);
}

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
const time = z.object({ now: z.iso.datetime() });

/** The controls of a sandbox that runs as a program of its own. */
export class RunningSandbox {
  readonly #url: URL;

  /** An empty address means none, as everywhere. */
  constructor({ sandbox }: RunningOption) {
    this.#url = parseUrl('--sandbox', sandbox === '' ? DEFAULT_ADDRESS : sandbox);
  }

  send(request: object): Promise<HappenedEvent> {
    return this.#ask(happenedEvent, 'events', request);
  }

  /** Its time, in milliseconds since the epoch. */
  async now(): Promise<number> {
    return Date.parse((await this.#ask(time, 'clock')).now);
  }

  /** Resolves with its time once everything that falls due on the way is answered. */
  async advance(step: { readonly advanceMs: number } | { readonly toNextRetry: true }): Promise<number> {
    return Date.parse((await this.#ask(time, 'clock', step)).now);
  }

  deliveries(filter: DeliveryFilter = {}): Promise<readonly DeliveryAttempt[]> {
    const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== undefined));
    return this.#ask(z.array(deliveryAttempt), `deliveries?${query}`);
  }

  async #ask<T>(schema: z.ZodType<T>, control: string, body?: object): Promise<T> {
    const response = await this.#fetch(control, body);
    const answer: unknown = await response.json().catch(() => undefined);
    const { data } = schema.safeParse(answer);
    if (response.ok && data !== undefined) return data;
    const refused = refusal.safeParse(answer).data;
    if (refused === undefined || response.status === 404) {
      throw new CommandError('failed', `what answers at ${addressOf(this.#url)} is no sandbox of posthorn`);
    }
    const { message, details } = refused;
    throw new CommandError('failed', details === undefined ? message : `${message}: ${details}`);
  }

  async #fetch(control: string, body: object | undefined): Promise<Response> {
    const address = `${this.#url.href.replace(/\/$/, '')}/sandbox/${control}`;
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
    try {
      return await fetch(address, body && { ...post, body: JSON.stringify(body) });
    } catch (cause) {
      throw new CommandError(
        'unreachable',
        `no sandbox answers at ${addressOf(this.#url)} (${reasonOf(cause) || messageOf(cause)}): start one with ` +
          'posthorn dev or posthorn sandbox, or say where it is with --sandbox or POSTHORN_SANDBOX',
        { cause },
      );
    }
  }
}
