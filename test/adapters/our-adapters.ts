import type express5 from 'express';
import fastify from 'fastify';
import { toExpress } from 'posthorn/express';
import { toFastify } from 'posthorn/fastify';
import { toKoa } from 'posthorn/koa';
import { toNode } from 'posthorn/node';
import { type AdapterConformanceOptions, adapterConformance, type ConformanceCase } from 'posthorn/testing';
import { parseEventBody, parseOnKoa, readBeforePlugin, readJsonOnHono } from './body-readers.ts';
import { listen, type Mount } from './endpoint.ts';
import { behind, differentGateways } from './lambda-gateway.ts';
import {
  expressVersions,
  koa,
  listenOnFastify,
  mountBehind,
  mountBehindReader,
  mountOnFastify,
  mountOnHono,
  mountOnKoa,
  mountOnNode,
} from './mounts.ts';

/** One of our adapters, as the conformance runs on it. docs/conformance.md has the table of them. */
export interface OurAdapter {
  /** The function that mounts a receiver. */
  readonly name: string;
  /** What it mounts the receiver on, after the name in a sentence. */
  readonly place: string;
  readonly mount: Mount;
  readonly options: AdapterConformanceOptions;
  /** The groups of cases that do not apply to it, each with the reason. */
  readonly inapplicable: Readonly<Record<string, string>>;
}

export const onNode: OurAdapter = {
  name: 'toNode',
  place: 'on `node:http`',
  mount: mountOnNode,
  options: {
    serveReadBody: mountBehindReader,
    servePath: (receiver, path) => listen(toNode(receiver, { path })),
  },
  inapplicable: {},
};

export const onExpress = ([version, express]: readonly [string, typeof express5]): OurAdapter => ({
  name: 'toExpress',
  place: `on ${version}`,
  mount: mountBehind(express),
  options: {
    serveReadBody: mountBehind(express, express.json()),
    servePath: (receiver, path) => listen(express().use(toExpress(receiver, { path }))),
  },
  inapplicable: {},
});

export const onFastify: OurAdapter = {
  name: 'toFastify',
  place: 'on Fastify',
  mount: mountOnFastify(),
  options: {
    serveReadBody: mountOnFastify(readBeforePlugin),
    servePath: (receiver, path) => listenOnFastify(fastify().register(toFastify(receiver, { path }))),
  },
  inapplicable: {},
};

export const onKoa: OurAdapter = {
  name: 'toKoa',
  place: 'on Koa',
  mount: mountOnKoa(),
  options: {
    serveReadBody: mountOnKoa(parseOnKoa),
    servePath: (receiver, path) => listen(koa(toKoa(receiver, { path })).callback()),
  },
  inapplicable: {},
};

export const onHono: OurAdapter = {
  name: 'toFetch',
  place: 'on Hono',
  mount: mountOnHono(),
  options: { foldsRepeatedHeaders: true, serveReadBody: mountOnHono(readJsonOnHono) },
  inapplicable: { paths: 'the framework routes' },
};

const WHOLE_BODIES = 'Lambda gets whole bodies only';
const NEAREST_QUERIES = 'the gateway hands over parameters, or drops the `?` of an empty query';

export const onLambda = ([place, gateway]: (typeof differentGateways)[number]): OurAdapter => ({
  name: 'toLambda',
  place: `behind ${place}`,
  mount: behind(gateway),
  options: {
    wholeBodiesOnly: true,
    foldsRepeatedHeaders: gateway.ofRepeatedHeaders === 'joined',
    serveReadBody: behind(gateway, parseEventBody),
  },
  inapplicable: {
    ...(gateway.ofRepeatedHeaders === 'the last' && {
      'repeated headers': 'the balancer passes on the last one only',
    }),
    'url of a query as it was spelt': NEAREST_QUERIES,
    'slow bodies': WHOLE_BODIES,
    'cut bodies': WHOLE_BODIES,
    'long bodies': WHOLE_BODIES,
    'many bodies': WHOLE_BODIES,
    'a body behind a refusal': WHOLE_BODIES,
    paths: 'the gateway routes',
  },
});

export const ourAdapters: readonly OurAdapter[] = [
  onNode,
  ...expressVersions.map(onExpress),
  onFastify,
  onKoa,
  onHono,
  ...differentGateways.map(onLambda),
];

/** The group of a case: the beginning of its name. */
export function groupOf(name: string): string {
  return name.replace(/: .*/, '');
}

/** The cases that run on an adapter. */
export function casesFor({ mount, options, inapplicable }: OurAdapter): readonly ConformanceCase[] {
  return adapterConformance(mount, options).filter(({ name }) => !(groupOf(name) in inapplicable));
}
