// The receiver of this Worker, with its handlers and its dead letters.

import { createReceiver } from 'posthorn';
import { createD1DeadLetters, createD1Store } from 'posthorn/d1';

export interface Env {
  readonly DB: D1Database;
  readonly SIGNING_KEY: string;
  /** The password of the people on call. Without it nobody reaches the dead letters. */
  readonly OPERATOR_TOKEN?: string;
}

export const scope = 'example-development';
let ofIsolate: ReturnType<typeof create> | undefined;

/** Returns the receiver of this isolate, and its dead letters. Only an invocation brings the environment. */
export function getReceiver(env: Env) {
  ofIsolate ??= create(env);
  return ofIsolate;
}

function create({ DB, SIGNING_KEY }: Env) {
  const deadLetters = createD1DeadLetters(DB, { scope });
  const receiver = createReceiver({
    signingKey: SIGNING_KEY,
    store: createD1Store(DB, { scope }),
    deadLetters,
    maxRunMs: 20_000, // Workers ends in silence what runs for longer than 30 seconds after the answer
  });
  receiver.on('*', (event) => console.log(event.type, event.id));
  return { receiver, deadLetters };
}
