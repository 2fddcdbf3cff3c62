import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { settledWithin } from '../../receiver/timing/time-limit.ts';

/** A browser takes an answer at once. One that does not must not keep the command from its end. */
const ANSWER_LIMIT_MS = 5_000;

/** The requests of a server that have no answer yet. */
export class OpenAnswers {
  readonly #open = new Set<ServerResponse>();

  constructor(server: Server) {
    server.on('request', (_request, response) => {
      this.#open.add(response);
      response.once('close', () => this.#open.delete(response));
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Resolves once they are sent, or after a few seconds. */
  async sent(): Promise<void> {
    await settledWithin(
      Promise.all([...this.#open].map((response) => once(response, 'close'))),
      ANSWER_LIMIT_MS,
    );
  }
}
