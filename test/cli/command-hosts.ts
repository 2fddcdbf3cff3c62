import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { packageRoot, type Running } from '../support/child-program.ts';

/** A command, and what it finds. */
interface Command {
  /** The file of the built program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly input: Uint8Array;
}

/** A part of the output, then the end of the command, then whether nothing remains of it. */
type Message =
  | { readonly stream: 'stdout' | 'stderr'; readonly chunk: Uint8Array }
  | { readonly code: number; readonly signals: number }
  | { readonly isTidy: boolean };

/**
 * Returns true for a command that goes on until the process ends: a signal ends a demo within its scenario,
 * and the module of a user's receiver may have timers and connections of its own.
 */
const goesOn = ({ args }: Command): boolean => args[0] === 'demo' || args.includes('--receiver');

/** Those that wait for a command. */
const idle: CommandHost[] = [];

/**
 * A process that runs one command after another: test/cli/command-host.mjs. It ends with a command that
 * leaves something behind, as any process would, and with one that is killed.
 */
class CommandHost {
  readonly #program: string;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;

  constructor(program: string) {
    this.#program = program;
    this.#child = fork(join(packageRoot, 'test', 'cli', 'command-host.mjs'), [program], {
      env: { PATH: process.env.PATH },
      execArgv: ['--no-warnings'],
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#closed = once(this.#child, 'close');
    void this.#closed.then(() => {
      if (idle.includes(this)) idle.splice(idle.indexOf(this), 1);
    });
  }

  isFitFor({ program }: Command): boolean {
    return program === this.#program;
  }

  run(command: Command): Running {
    const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
    let signals = 0;
    let ended: { readonly code: number | null; readonly signals: number } | undefined;

    // The streams of the process itself get the last words of one that fails.
    const onStdout = (chunk: Uint8Array): void => void streams.stdout.write(chunk);
    const onStderr = (chunk: Uint8Array): void => void streams.stderr.write(chunk);
    this.#child.stdout?.on('data', onStdout);
    this.#child.stderr?.on('data', onStderr);
    const end = (result: typeof ended): void => {
      if (ended !== undefined) return;
      ended = result;
      this.#child.stdout?.off('data', onStdout).resume();
      this.#child.stderr?.off('data', onStderr).resume();
      streams.stdout.end();
      streams.stderr.end();
    };

    const exit = new Promise<number | null>((resolve) => {
      const onMessage = (message: Message): void => {
        if ('stream' in message) {
          // What is printed after the end would be lost in a process of its own.
          if (ended === undefined) streams[message.stream].write(message.chunk);
        } else if ('code' in message) end(message);
        // A signal that has not come yet is for the command that has ended.
        else release(message.isTidy && !goesOn(command) && ended?.signals === signals);
      };
      const release = (isFit: boolean): void => {
        this.#child.off('message', onMessage);
        if (isFit) idle.push(this);
        else this.#child.kill('SIGKILL');
        resolve(ended?.code ?? null);
      };
      this.#child.on('message', onMessage);
      void this.#closed.then(() => {
        end({ code: this.#child.exitCode, signals });
        release(false);
      });
      // It may just have ended: then it is closed in a moment.
      this.#child.send(command, () => {});
    });
    const kill = (signal: NodeJS.Signals): void => {
      if (ended !== undefined) return;
      signals += 1;
      this.#child.kill(signal);
    };
    return { ...streams, exit, kill };
  }
}

/** Runs a command in a process that has run others before it, if one is free. */
export function runInHost(command: Command): Running {
  const found = idle.findLastIndex((host) => host.isFitFor(command));
  const [host = new CommandHost(command.program)] = found === -1 ? [] : idle.splice(found, 1);
  return host.run(command);
}
