import { getRequestListener } from '@hono/node-server';
import { adapterConformance, type Serve } from 'posthorn/testing';
import { afterAll, describe, test } from 'vitest';
import { toMyFramework } from '../../examples/adapter.ts';
import { listen } from '../adapters/endpoint.ts';

// @hono/node-server puts classes of its own in the place of these.
const originals = { Request: globalThis.Request, Response: globalThis.Response };
afterAll(() => {
  for (const [name, value] of Object.entries(originals))
    Object.defineProperty(globalThis, name, { value, writable: true });
});

const serve: Serve = (receiver) => listen(getRequestListener(toMyFramework(receiver)));

describe('examples/adapter.ts passes what it can on a web Request', () => {
  const options = { foldsRepeatedHeaders: true, hidesConnections: true };
  for (const { name, run } of adapterConformance(serve, options)) test(name, run);
});
