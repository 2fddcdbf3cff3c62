import { checkOptions, invalidOption } from '../receiver/checks/check-options.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import { show, typeNameOf } from '../receiver/values/foreign-values.ts';
import { acceptedAnswers } from './adapter-conformance/accepted-answers.ts';
import { casesOf, type Group } from './adapter-conformance/case.ts';
import { adapterCases } from './adapter-conformance/case-ids.ts';
import { failedAnswers, lateAnswers } from './adapter-conformance/failed-answers.ts';
import { hangUps } from './adapter-conformance/hang-ups.ts';
import { crowdedBodies, cutBodies, longBodies, slowBodies } from './adapter-conformance/hostile-bodies.ts';
import { parkedAnswers } from './adapter-conformance/parked-answers.ts';
import type { AdapterConformanceOptions, Platform, Serve } from './adapter-conformance/platform.ts';
import { readBodies } from './adapter-conformance/read-bodies.ts';
import { refusedBodies, refusedEvents, unreadableBodies } from './adapter-conformance/refused-bodies.ts';
import {
  headerNames,
  refusedCredentials,
  refusedMethods,
  refusedSignatures,
  repeatedHeaders,
} from './adapter-conformance/refused-heads.ts';
import { servedPaths } from './adapter-conformance/served-paths.ts';
import { unavailableAnswers } from './adapter-conformance/unavailable-answers.ts';
import { unsentRests } from './adapter-conformance/unsent-rests.ts';
import { spelledQueries, urls } from './adapter-conformance/urls.ts';
import { type ConformanceCase, withIds } from './conformance-case.ts';

export type {
  AdapterConformanceOptions,
  Serve,
  ServedAdapter,
  ServePath,
} from './adapter-conformance/platform.ts';

/**
 * The requirements of every adapter, for authors of adapters: each row of the table of answers, and what
 * senders and networks can do to a delivery. Each case calls `serve` with a receiver of its own, sends
 * deliveries over real sockets, and checks the answers. If one is wrong, it rejects with what to do about it.
 * A case that hangs ends after 15 seconds, and says what it was waiting for; a correct adapter needs 2 at
 * most.
 *
 * @throws ConfigurationError for a wrong option, or if `serve` is not a function.
 *
 * @example
 * ```ts
 * import { once } from 'node:events';
 * import { createServer } from 'node:http';
 * import { adapterConformance, type Serve } from 'posthorn/testing';
 *
 * const serve: Serve = async (receiver) => {
 *   const server = createServer(toMyFramework(receiver)).listen(0, '127.0.0.1');
 *   await once(server, 'listening');
 *   return {
 *     url: `http://127.0.0.1:${server.address().port}/webhooks`,
 *     close: async () => {
 *       server.close();
 *       server.closeAllConnections();
 *     },
 *   };
 * };
 * for (const { name, run } of adapterConformance(serve)) test(name, run);
 * ```
 */
export function adapterConformance(
  serve: Serve,
  options: AdapterConformanceOptions = {},
): readonly ConformanceCase[] {
  const platform = readPlatform(serve, options);
  const cases = groupsFor(platform).flatMap((group) => casesOf(group, platform));
  return withIds(cases, adapterCases);
}

const FLAGS = ['foldsRepeatedHeaders', 'wholeBodiesOnly', 'hidesConnections'] as const;
const FUNCTIONS = ['serveReadBody', 'servePath'] as const;

function readPlatform(serve: Serve, options: AdapterConformanceOptions): Platform {
  if (typeof serve !== 'function') {
    throw new ConfigurationError(
      `adapterConformance takes a function that serves the adapter; got ${typeNameOf(serve)}`,
    );
  }
  checkOptions(options, [...FLAGS, ...FUNCTIONS], 'adapterConformance');
  for (const name of FLAGS) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== 'boolean')
      throw invalidOption(name, `must be true or false, got ${show(value)}`);
  }
  for (const name of FUNCTIONS) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== 'function')
      throw invalidOption(name, `must be a function, got ${typeNameOf(value)}`);
  }
  const { foldsRepeatedHeaders = false, wholeBodiesOnly = false, serveReadBody, servePath } = options;
  const hidesConnections = wholeBodiesOnly || (options.hidesConnections ?? false);
  return { serve, serveReadBody, servePath, foldsRepeatedHeaders, wholeBodiesOnly, hidesConnections };
}

/** The groups of cases that the platform can show. */
function groupsFor({ wholeBodiesOnly, serveReadBody, servePath }: Platform): readonly Group[] {
  return [
    acceptedAnswers,
    refusedMethods,
    refusedCredentials,
    refusedSignatures,
    repeatedHeaders,
    headerNames,
    refusedBodies,
    unreadableBodies,
    refusedEvents,
    failedAnswers,
    lateAnswers,
    unavailableAnswers,
    parkedAnswers,
    ...(wholeBodiesOnly ? [] : [slowBodies, cutBodies, longBodies, crowdedBodies, unsentRests]),
    hangUps,
    ...(serveReadBody === undefined ? [] : [readBodies]),
    urls,
    spelledQueries,
    ...(servePath === undefined ? [] : [servedPaths(servePath)]),
  ];
}
