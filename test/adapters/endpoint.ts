import { createServer, type RequestListener } from 'node:http';
import { promisify } from 'node:util';
import type { Serve, ServedAdapter } from 'posthorn/testing';
import { onTestFinished } from 'vitest';
import {
  Endpoint as AdapterEndpoint,
  type EndpointSettings,
} from '../../src/testing/adapter-conformance/endpoint.ts';
import { startServer, stopServer } from '../support/listen.ts';

export { expectAccepted, expectProblem, type Seen } from '../../src/testing/adapter-conformance/answer.ts';
export {
  BASIC,
  BEARER,
  KEY,
  PASSWORD,
  signed,
  TOKEN,
  transfer,
  USERNAME,
} from '../../src/testing/adapter-conformance/delivery.ts';
export { expectReport } from '../../src/testing/adapter-conformance/endpoint.ts';
export { Gate } from '../../src/testing/adapter-conformance/waits.ts';

/** What an adapter mounts. */
export type Mountable = Parameters<Serve>[0];

/** A server that tells how many connections are open. */
export type Mounted = ServedAdapter & Required<Pick<ServedAdapter, 'countConnections'>>;

/** Mounts a receiver with the adapter under test, and listens. */
export type Mount = Serve;

/** Listens on a port of its own, with `/webhooks` as the place of the mount. */
export async function listen(listener: RequestListener): Promise<Mounted> {
  const server = createServer(listener);
  return {
    url: `${await startServer(server)}/webhooks`,
    countConnections: promisify(server.getConnections.bind(server)),
    close: () => stopServer(server),
  };
}

/** A receiver behind the adapter under test, with all that it reported. */
export type Endpoint = AdapterEndpoint;

export const Endpoint = {
  /** Closed at the end of the test. */
  open: async (mount: Mount, settings: EndpointSettings = {}): Promise<Endpoint> => {
    const endpoint = await AdapterEndpoint.open(mount, settings);
    onTestFinished(endpoint.served.close);
    return endpoint;
  },
};
