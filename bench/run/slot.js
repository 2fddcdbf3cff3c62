import { fileURLToPath } from 'node:url';
import { Child } from './child.js';

const pathOf = (/** @type {string} */ path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * @typedef {object} Settings
 * @property {number} connections
 * @property {number} warmUpMs how long a warm-up takes at least
 * @property {number} warmUpEvents how many events it has at least
 * @property {number} durationMs
 * @property {readonly string[]} serverFlags of node
 * @property {readonly string[]} loadFlags of the load
 * @property {NodeJS.ProcessEnv} environment of the servers
 */

/**
 * @typedef {object} Measurement
 * @property {number} requestsPerSecond
 * @property {number} cpuMicroseconds processor time of the server per event, which other programs disturb
 * less
 * @property {number} serverBusy share of its core
 * @property {number} loadBusy share of its core: near 1, unless it stays awake, it is the load generator that
 * was measured
 */

const DEFAULT_BODY_BYTES = 700;

/** A first guess of events per second, which must not be too small. */
const mostExpected = (/** @type {number} */ bodyBytes) => Math.min(80_000, 8e8 / bodyBytes);

/** A contender in a process of its own, and a load for it in another. */
export class Slot {
  #contender;
  #settings;
  #server;
  #load;
  #target = { port: 0, scheme: 'service', bodyBytes: DEFAULT_BODY_BYTES, connections: 0 };
  #sent = 0;
  #rate;

  /**
   * @param {import('./contenders.js').Contender} contender
   * @param {Settings} settings
   */
  constructor(contender, settings) {
    const { program, scheme = 'service', bodyBytes = DEFAULT_BODY_BYTES } = contender;
    const { serverFlags, loadFlags, environment, connections } = settings;
    const [file, ...argv] = program.split(' ');
    this.#contender = contender;
    this.#settings = settings;
    this.#server = new Child('server', [...serverFlags, pathOf(`contenders/${file}`), ...argv], environment);
    this.#load = new Child('load', [pathOf('load/generator.js'), ...loadFlags]);
    this.#target = { port: 0, scheme, bodyBytes, connections };
    this.#rate = mostExpected(bodyBytes);
  }

  /** Starts it, makes sure that it refuses what it has to, and warms it up. */
  async prepare() {
    this.#target.port = (await this.#server.message()).port;
    await this.#check();
    for (let handled = 0; handled < this.#settings.warmUpEvents; ) {
      const { result } = await this.#closedLoop(this.#settings.warmUpMs);
      // The code is still being compiled, so it will get faster.
      this.#rate = result.requestsPerSecond * 1.5;
      handled += result.sent;
    }
  }

  /** @returns {Promise<Measurement>} */
  async measureClosedLoop() {
    const { result, ...cost } = await this.#closedLoop(this.#settings.durationMs);
    return { requestsPerSecond: result.requestsPerSecond, ...cost };
  }

  /**
   * @param {number} rate requests per second
   * @returns {Promise<import('../load/fixed-rate.js').FixedRateResult>}
   */
  async measureFixedRate(rate) {
    const { durationMs } = this.#settings;
    const count = Math.ceil((rate * durationMs) / 1_000);
    const { result } = await this.#run({ type: 'fixedRate', durationMs, count, rate });
    return result;
  }

  /** Makes sure that every event was handled once; throws otherwise. */
  async verifyCount() {
    const { handled } = await this.#server.ask({ type: 'usage' });
    if (handled !== this.#sent)
      throw new Error(`${this.#contender.name} handled ${handled} of ${this.#sent} events`);
  }

  async stop() {
    await Promise.all([this.#server.stop(), this.#load.stop()]);
  }

  async #check() {
    const { result } = await this.#load.ask({ type: 'check', target: this.#target });
    const { onlyReads = false, name } = this.#contender;
    if (result.accepted >= 300) throw new Error(`${name} answered an event with ${result.accepted}`);
    if (!onlyReads && result.tampered < 400) throw new Error(`${name} accepted a tampered body`);
    this.#sent += onlyReads ? 2 : 1;
  }

  /** @param {number} durationMs */
  #closedLoop(durationMs) {
    const count = Math.ceil((this.#rate * durationMs) / 1_000) + this.#settings.connections;
    return this.#run({ type: 'closedLoop', durationMs, count });
  }

  /** @param {{ type: string, durationMs: number, count: number, rate?: number }} order */
  async #run(order) {
    await this.#load.ask({ ...order, target: this.#target });
    const startedAt = performance.now();
    const before = await this.#server.ask({ type: 'usage' });
    const { result } = await this.#load.message();
    const after = await this.#server.ask({ type: 'usage' });
    const elapsedMs = performance.now() - startedAt;
    if (result.refused > 0) throw new Error(`${this.#contender.name} refused ${result.refused} events`);
    this.#sent += result.sent;
    const cpu = after.cpuMicroseconds - before.cpuMicroseconds;
    return {
      result,
      cpuMicroseconds: cpu / (after.handled - before.handled),
      serverBusy: cpu / 1_000 / elapsedMs,
      loadBusy: result.busy,
    };
  }
}
