import { type ChildProgram, packageRoot, startProgram } from '../../support/child-program.ts';
import { KEY } from '../../support/served.ts';
import type { Freeze } from './key-runs.ts';
import { pause } from './process-storm.ts';

/** A process that listens. */
export interface KeptProcess {
  readonly program: ChildProgram;
  readonly pid: string;
  readonly url: string;
}

/**
 * Processes of one program, which a storm kills and freezes. Each is started again whenever it has ended. The
 * program prints `listening`, its process id and its port.
 */
export class KeptProcesses {
  readonly freezes: Freeze[] = [];
  readonly killedAt: Map<string, number> = new Map();
  /** The output of processes that ended without being killed. */
  readonly crashes: string[] = [];
  readonly #path: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #running: (KeptProcess | undefined)[] = [];
  #kept: Promise<unknown> = Promise.resolve();
  #count = 0;
  #isOver = false;

  /** The path is one from the root of the package. */
  constructor(path: string, env: NodeJS.ProcessEnv) {
    this.#path = `${packageRoot}/${path}`;
    this.#env = { PATH: process.env.PATH, KEY, ...env };
  }

  /** Starts so many of them. */
  start(count: number): void {
    this.#count = count;
    this.#kept = Promise.all(Array.from({ length: count }, (_, place) => this.#keepAlive(place)));
  }

  /** Ends them. */
  async stop(): Promise<void> {
    this.#isOver = true;
    for (const { program } of this.alive()) program.kill('SIGKILL');
    await this.#kept;
  }

  /** The processes that listen. */
  alive(): KeptProcess[] {
    return this.#running.filter((candidate) => candidate !== undefined);
  }

  /** True if all processes listen. */
  areAlive(): boolean {
    return this.alive().length === this.#count;
  }

  /** The address of any that listens. */
  anyUrl(): string | undefined {
    return this.any()?.url;
  }

  /** Any that listens. */
  any(): KeptProcess | undefined {
    return pickOne(this.alive());
  }

  /** Kills one of them. */
  async kill(): Promise<void> {
    const victim = this.any();
    if (victim === undefined) return;
    victim.program.kill('SIGKILL');
    this.killedAt.set(victim.pid, sharedNow());
    await victim.program.exit;
  }

  /** Freezes one of them for a time. */
  async freeze(ms: number): Promise<void> {
    const victim = this.any();
    if (victim === undefined) return;
    const from = sharedNow();
    victim.program.kill('SIGSTOP');
    await pause(ms);
    victim.program.kill('SIGCONT');
    this.freezes.push({ pid: victim.pid, from, to: sharedNow() });
  }

  async #keepAlive(place: number): Promise<void> {
    while (!this.#isOver) {
      const program = startProgram(this.#path, this.#env, packageRoot);
      const [, pid = '', port] = (await program.line(/^listening /)).split(' ');
      this.#running[place] = { program, pid, url: `http://127.0.0.1:${port}/` };
      if (this.#isOver) program.kill('SIGKILL');
      // A kill leaves no exit code.
      if ((await program.exit) !== null) this.crashes.push(program.lines.join('\n'));
      this.#running[place] = undefined;
    }
  }
}

/** The clock of `process.hrtime`, which all processes of a machine share, in milliseconds. */
function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function pickOne<T>(items: readonly T[]): T | undefined {
  return items[Math.floor(Math.random() * items.length)];
}
