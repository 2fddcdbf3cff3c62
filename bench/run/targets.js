/**
 * @typedef {object} Target
 * @property {string} of the name of a contender
 * @property {string} against
 * @property {number} least requests per second of the one over those of the other
 */

/** @type {readonly Target[]} */
export const targets = [
  { of: 'posthorn-node', against: 'min', least: 1 },
  { of: 'posthorn-node', against: 'octokit', least: 1.6 },
  { of: 'posthorn-express', against: 'express-raw', least: 0.95 },
  { of: 'posthorn-express', against: 'express-stripe', least: 1.25 },
  { of: 'posthorn-fastify', against: 'min-fastify', least: 0.95 },
  { of: 'posthorn-koa', against: 'min-koa', least: 0.95 },
  { of: 'posthorn-fetch', against: 'min-fetch-stream', least: 0.95 },
  { of: 'posthorn-lambda', against: 'min-lambda', least: 0.95 },
  { of: 'posthorn-metrics', against: 'posthorn-node', least: 0.9 },
  { of: 'posthorn-logs', against: 'posthorn-node', least: 0.9 },
  { of: 'posthorn-redis', against: 'min-redis-two', least: 0.9 },
  { of: 'posthorn-redis-unpipelined', against: 'min-redis-two', least: 0.9 },
  { of: 'posthorn-redis-keyed', against: 'posthorn-redis', least: 0.625 },
  { of: 'posthorn-queue', against: 'min-queue', least: 0.8 },
  { of: 'posthorn-postgres', against: 'min-postgres', least: 0.9 },
  { of: 'posthorn-inbox', against: 'min-inbox', least: 0.9 },
  { of: 'posthorn-inbox', against: 'hand-inbox', least: 0.9 },
  { of: 'remembered-1m', against: 'remembered-1k', least: 0.9 },
  { of: 'handlers-1k', against: 'posthorn-node', least: 0.95 },
  { of: 'posthorn-100kb', against: 'min-100kb', least: 0.95 },
];

/** At half of what `against` can do, the 99th percentile of the latency may be this much longer. */
export const latencyTarget = {
  against: 'min-redis-two',
  of: ['posthorn-redis', 'posthorn-redis-unpipelined'],
  most: 1.2,
};
