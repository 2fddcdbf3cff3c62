import { execFileSync } from 'node:child_process';
import type { ChildProgram } from '../support/child-program.ts';
import { WAIT_LIMIT_MS } from '../support/limits.ts';
import { type Ended, jsonLines, posthorn, startPosthorn } from './posthorn.ts';

/** A sandbox that runs as a program of its own, and what the command line needs to reach it. */
export interface Sandboxed {
  readonly program: ChildProgram;
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  /** Runs `posthorn webhooks …` against it. */
  readonly webhooks: (...args: string[]) => Promise<Ended>;
  /** The same with `--json`: each line of the results; throws if it failed. */
  readonly results: (...args: string[]) => Promise<Record<string, unknown>[]>;
  /** Creates a webhook. */
  readonly create: (url: string, ...args: string[]) => Promise<{ id: string; key: string }>;
  /** Moves its clock, with curl. */
  readonly advance: (advanceMs: number) => void;
}

export async function startSandbox(...args: string[]): Promise<Sandboxed> {
  const program = startPosthorn(['sandbox', '--port', '0', '--clock', 'manual', '--json', ...args]);
  const url = await addressOf(program);
  const env = environmentOf(url);
  const webhooks: Sandboxed['webhooks'] = (...args) => posthorn(['webhooks', ...args], { env });
  const results: Sandboxed['results'] = async (...args) => {
    const ended = await webhooks(...args, '--json');
    if (ended.code !== 0) throw new Error(ended.stderr);
    return jsonLines(ended);
  };
  return {
    program,
    url,
    env,
    webhooks,
    results,
    create: async (...args) => {
      const [created] = await results('create', ...args);
      const { webhook, secret_signing_key: key } = Object(created);
      return { id: webhook.id, key };
    },
    advance: (advanceMs) => void curl('POST', `${url}/sandbox/clock`, { advanceMs }),
  };
}

/** The environment in which the commands reach a sandbox, or another service. */
export function environmentOf(url: string): NodeJS.ProcessEnv {
  return {
    POSTHORN_BASE_URL: url,
    POSTHORN_SANDBOX: url,
    POSTHORN_USERNAME: 'sandbox-admin',
    POSTHORN_PASSWORD: 'sandbox-password',
    POSTHORN_BANKING_TOKEN: 'sandbox-jwt',
    POSTHORN_API_KEY: 'sandbox-key',
    POSTHORN_ACCESS_TOKEN: 'sandbox-access',
  };
}

/** The address of a sandbox that a program serves, which was started with `--json`. */
export async function addressOf(program: ChildProgram): Promise<string> {
  return JSON.parse(await program.line(/"listening"/)).url;
}

/** The answer of curl, as JSON. */
export function curl(method: string, url: string, body?: object): unknown {
  const data = body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
  return JSON.parse(
    execFileSync('curl', ['-sS', '-X', method, ...data, url], { encoding: 'utf8', timeout: WAIT_LIMIT_MS }),
  );
}
