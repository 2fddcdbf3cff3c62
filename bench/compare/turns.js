import { fileURLToPath } from 'node:url';
import { Child } from '../run/child.js';
import { median, ratios } from '../run/statistics.js';

const pathOf = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * @typedef {object} Course
 * @property {number} rounds
 * @property {number} events of one turn
 * @property {number} warmUp events before, for each build
 * @property {number} bodyBytes
 * @property {number} connections
 */

/**
 * @typedef {object} Measurement
 * @property {number} microseconds the processor time of an event
 * @property {number} ratio of that to the first build's in the same round
 * @property {number} commands that the store's server got for an event
 */

/** Not reached: a turn ends when its events have been answered. */
const LONGEST_TURN_MS = 600_000;

/** A process with all builds, and a load for each of them. */
export class Turns {
  #builds;
  #course;
  #server;
  /** @type {Child[]} */
  #loads;
  /** @type {number[]} */
  #ports = [];
  /** How many events must have been handled. */
  #sent = 0;

  /**
   * @param {readonly string[]} builds
   * @param {Course} course
   * @param {NodeJS.ProcessEnv} environment of the process with the builds
   */
  constructor(builds, course, environment) {
    this.#builds = builds;
    this.#course = course;
    this.#server = new Child('server', [pathOf('server.js'), ...builds], environment);
    this.#loads = builds.map(() => new Child('load', [pathOf('../load/generator.js')]));
  }

  /**
   * Lets the builds take their turns; each round begins with another one.
   *
   * @returns {Promise<Measurement[]>} of each build: medians of the rounds
   */
  async measure() {
    this.#ports = (await this.#server.message()).ports;
    const builds = this.#builds.map((_, index) => index);
    for (const build of builds) await this.#check(build);
    for (const build of builds) await this.#take(build, this.#course.warmUp);
    /** @type {{ microseconds: number[], commands: number[] }[]} */
    const costs = builds.map(() => ({ microseconds: [], commands: [] }));
    for (let round = 0; round < this.#course.rounds; round += 1) {
      for (const build of builds) {
        const { microseconds, commands } = await this.#take(build, this.#course.events);
        costs[build].microseconds.push(microseconds);
        costs[build].commands.push(commands);
      }
      builds.push(...builds.splice(0, 1));
    }
    return costs.map(({ microseconds, commands }) => ({
      microseconds: median(microseconds),
      ratio: median(ratios(microseconds, costs[0].microseconds)),
      commands: median(commands),
    }));
  }

  async stop() {
    await Promise.all([this.#server, ...this.#loads].map((child) => child.stop()));
  }

  /** @param {number} build */
  async #check(build) {
    const { result } = await this.#loads[build].ask({ type: 'check', target: this.#targetOf(build) });
    if (result.accepted !== 200 || result.tampered < 400)
      throw new Error(
        `${this.#builds[build]} answered an event with ${result.accepted}, a changed one with ${result.tampered}`,
      );
    this.#sent += 1;
  }

  /**
   * @param {number} build
   * @param {number} count
   */
  async #take(build, count) {
    const target = this.#targetOf(build);
    const before = await this.#server.ask({ type: 'usage' });
    await this.#loads[build].ask({ type: 'closedLoop', target, count, durationMs: LONGEST_TURN_MS });
    const { result } = await this.#loads[build].message();
    const after = await this.#server.ask({ type: 'usage' });
    this.#sent += result.sent;
    if (result.refused > 0 || after.handled !== this.#sent)
      throw new Error(
        `${this.#builds[build]} refused ${result.refused} events; ${after.handled} of ${this.#sent} were handled`,
      );
    return {
      microseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / result.sent,
      commands: (after.commands - before.commands) / result.sent,
    };
  }

  /** @param {number} build */
  #targetOf(build) {
    const { bodyBytes, connections } = this.#course;
    return { port: this.#ports[build], scheme: 'service', bodyBytes, connections };
  }
}
