import type { HandlerContext } from 'posthorn';
import { type EndpointOptions, openDirectly } from '../../../support/open-endpoint.ts';

/** The options of `accept` that most tests need. */
export const SOURCE = { source: 'events.list' };

/** A receiver with one handler, which counts its runs and fails if it is told to. */
export function openCounting(options: EndpointOptions = {}) {
  const runs: [id: string, context: HandlerContext][] = [];
  const state: { failure: Error | undefined } = { failure: undefined };
  const endpoint = openDirectly(options, (receiver) =>
    receiver.on(
      'transfer.*',
      ({ id }, context) => {
        runs.push([id, context]);
        if (state.failure !== undefined) throw state.failure;
      },
      { name: 'book' },
    ),
  );
  return { ...endpoint, runs, state };
}
