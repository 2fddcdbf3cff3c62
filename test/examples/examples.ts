import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deliver } from 'posthorn/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPosthorn } from '../cli/posthorn.ts';
import { type PostgresServer, Servers as PostgresServers } from '../stores/postgres/servers.ts';
import { Servers } from '../stores/redis/servers.ts';
import { type ChildProgram, packageRoot, startProgram } from '../support/child-program.ts';
import { expectReplayed, parkedEvent } from './dead-letter-commands.ts';

/** What an example can ask its senders for. */
export const credentials = {
  none: {},
  BASIC: { BASIC_USERNAME: 'billing', BASIC_PASSWORD: `it's "secret" $HOME` },
  BEARER: { BEARER_TOKEN: 'to-ken_1' },
} as const;

/** Runs a command of a shell, which prints an answer. */
export function shell(command: string): Record<string, unknown> {
  return JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8' }));
}

/** Runs the examples of a file of tests, with servers and a folder of their own. */
export class Examples {
  #directory = '';
  #redisUrl = '';
  #postgres: PostgresServer | undefined;

  constructor() {
    const servers = new Servers();
    const postgresServers = new PostgresServers();
    beforeAll(async () => {
      this.#directory = mkdtempSync(join(tmpdir(), 'posthorn-examples-'));
      this.#postgres = await postgresServers.single();
      this.#redisUrl = `redis://127.0.0.1:${(await servers.single()).port}`;
    });
    afterAll(async () => {
      await Promise.all([servers.stop(), postgresServers.stop()]);
      rmSync(this.#directory, { recursive: true });
    });
  }

  get postgres(): PostgresServer {
    if (this.#postgres === undefined) throw new Error('PostgreSQL has not started yet');
    return this.#postgres;
  }

  /** Starts a file of an example, such as `queue/worker`. */
  start(file: string, environment: NodeJS.ProcessEnv): ChildProgram {
    return startProgram(builtFile(file), this.#environment(environment), this.#directory);
  }

  /** Starts the program `posthorn`, in the folder and the environment of the examples. */
  posthorn(args: readonly string[], environment: NodeJS.ProcessEnv): ChildProgram {
    return startPosthorn(args, this.#environment(environment), this.#directory);
  }

  #environment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    const POSTGRES_URL = `postgres://postgres@127.0.0.1:${this.postgres.port}/postgres`;
    return { PATH: process.env.PATH, PORT: '0', REDIS_URL: this.#redisUrl, POSTGRES_URL, ...own };
  }

  /** Lends an example that listens, with the command that it prints; it must end well on a signal. */
  run(
    name: string,
    environment: NodeJS.ProcessEnv,
    use: (program: ChildProgram, command: string) => Promise<void>,
  ): Promise<void> {
    return this.listen(name, environment, async (program) => use(program, await program.line(/^body=/)));
  }

  /** Lends an example that listens, with its address; it must end well on a signal. */
  async listen(
    name: string,
    environment: NodeJS.ProcessEnv,
    use: (program: ChildProgram, url: string) => Promise<void>,
  ): Promise<void> {
    const program = this.start(`${name}/server`, environment);
    try {
      const listening = await program.line(/^listening on http:\/\/127\.0\.0\.1:\d+\/webhooks/);
      await use(program, listening.replace('listening on ', ''));
    } finally {
      program.kill('SIGTERM');
      expect(await program.exit).toBe(0);
    }
  }

  testPrintedCommand(name: string, kind: keyof typeof credentials): void {
    test(`the command that examples/${name} prints works with ${kind} as credentials`, async () => {
      await this.run(name, credentials[kind], async (program, command) => {
        expect(shell(command)).toMatchObject({ outcome: 'processed' });
        await program.line(/ transfer\.succeeded evt_\S+ \{"id":"TR_sample"/);
        expect(shell(command)).toMatchObject({ outcome: 'duplicate' });
        expect(shell(command.replace('--data-raw "$body"', '--data-raw "$body "'))).toMatchObject({
          status: 403,
        });
      });
    });
  }

  testSigningKey(name: string): void {
    test(`examples/${name} takes the key from the environment, and refuses other credentials`, async () => {
      const environment = { SIGNING_KEY: `o'key`, BEARER_TOKEN: 'token' };
      await this.run(name, environment, async (program, command) => {
        expect(program.lines.join('\n')).not.toContain('made up');
        expect(shell(command)).toMatchObject({ outcome: 'processed' });
        expect(shell(command.replace('Bearer token', 'Bearer other'))).toMatchObject({ status: 401 });
      });
    });
  }

  testReceiverModule(name: string): void {
    test(`posthorn dead-letters lists and replays by examples/${name}/receiver.ts, beside its server`, async () => {
      const environment = { SIGNING_KEY: 'key' };
      await this.run(name, environment, async (program) => {
        const [, url = ''] = (await program.line(/^listening on /)).split('listening on ');
        const parked = parkedEvent();
        const answer = await deliver(url, parked, { key: environment.SIGNING_KEY });
        expect(await answer.json()).toMatchObject({ outcome: 'parked' });
        // A module that listened would find the port taken.
        const { port: PORT } = new URL(url);
        const start = (args: readonly string[]) => this.posthorn(args, { ...environment, PORT });
        await expectReplayed(start, builtFile(`${name}/receiver`), parked.id);
      });
    });
  }
}

/** The built form of a file of an example. */
export function builtFile(file: string): string {
  return join(packageRoot, 'dist', 'examples', `${file}.js`);
}
