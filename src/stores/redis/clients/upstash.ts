import { messageOf, propertyOf } from '../../../receiver/values/foreign-values.ts';
import type { ScriptClient } from './script-client.ts';

/** Runs a script, given as text or by its SHA-1. */
type Evaluate = (script: string, keys: string[], values: string[]) => Promise<unknown>;

/** The parts of a `Redis` of `@upstash/redis` that posthorn uses. */
export interface UpstashClient {
  /** Runs a script by its text. */
  eval: Evaluate;
  /** Runs a script that Redis has, by its SHA-1. */
  evalsha: Evaluate;
  /** posthorn does not call it, but knows the client by it. */
  createScript(script: string): unknown;
}

/** Uses a client of Upstash, which speaks HTTP: each request stands by itself, so no reply is another's. */
export function fromUpstash(client: UpstashClient): ScriptClient {
  return {
    isCluster: false,
    connection: {
      isReady: true,
      isConnecting: false,
      absenceMessage: '',
      onChange: () => {},
      maySendAgain: () => false,
    },
    evaluate: (text, keys, values) => withPlainError(client.eval(text, [...keys], [...values])),
    evaluateBySha1: (sha1, keys, values) => withPlainError(client.evalsha(sha1, [...keys], [...values])),
    reconnect: () => {},
  };
}

/** The message of an error of a command in a pipeline begins so, and the message of Redis follows. */
const PIPELINE_PREFIX = /^Command (\d+ \[ \S+ \] )?failed: /;

/**
 * The text between the message of Redis and the command, which has the body and the headers of a dead letter.
 */
const COMMAND_TEXT = ', command was: ';

/**
 * Rejects with the message of Redis alone, which begins with a code. Other messages can hold an answer that
 * is not JSON, or the password in an address. The error of the client is not the cause, because loggers print
 * the messages of causes.
 */
async function withPlainError(reply: Promise<unknown>): Promise<unknown> {
  try {
    return await reply;
  } catch (error) {
    const [plain = ''] = messageOf(error).replace(PIPELINE_PREFIX, '').split(COMMAND_TEXT);
    if (/^[A-Z]+ /.test(plain)) throw new Error(plain);
    const code = propertyOf(propertyOf(error, 'cause'), 'code') ?? propertyOf(error, 'name');
    throw new Error(`the request to Upstash failed: ${code}`);
  }
}
