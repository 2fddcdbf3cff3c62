import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { pinned } from './pinning.js';

/** A child process that is talked to by messages. */
export class Child {
  #process;
  #messages;
  #name;

  /**
   * @param {import('./pinning.js').Role} role
   * @param {readonly string[]} argv for node
   * @param {NodeJS.ProcessEnv} [environment]
   */
  constructor(role, argv, environment = {}) {
    this.#name = argv.join(' ');
    const [program, ...rest] = pinned(role, [process.execPath, ...argv]);
    this.#process = spawn(program, rest, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production', ...environment },
    });
    this.#messages = on(this.#process, 'message', { close: ['exit'] });
  }

  /** @param {object} message */
  send(message) {
    this.#process.send(message);
  }

  /**
   * Its next message; rejects when it has ended instead, or reports a failure.
   *
   * @returns {Promise<any>}
   */
  async message() {
    const { value, done } = await this.#messages.next();
    if (done)
      throw new Error(`${this.#name} ended with ${this.#process.exitCode ?? this.#process.signalCode}`);
    const [message] = value;
    if (message.type === 'failure') throw new Error(`${this.#name}: ${message.message}`);
    return message;
  }

  /**
   * @param {object} message
   * @returns {Promise<any>} its answer
   */
  ask(message) {
    this.send(message);
    return this.message();
  }

  /** Asks for its end, and waits for it. */
  async stop() {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    this.#process.send({ type: 'stop' }, () => {});
    const killer = setTimeout(() => this.#process.kill('SIGKILL'), 5_000);
    await exit;
    clearTimeout(killer);
  }
}
