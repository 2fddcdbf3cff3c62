/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} title
 * @property {string} program in bench/contenders, and its arguments
 * @property {string} [scheme] of load/schemes.js; `service` by default
 * @property {boolean} [onlyReads] it refuses nothing
 * @property {boolean} [needsRedis]
 * @property {boolean} [needsPostgres]
 * @property {number} [bodyBytes] 700 by default
 * @property {boolean} [isQuick] `--quick` measures it
 */

/** @type {readonly Contender[]} */
const withoutStore = [
  {
    name: 'bare',
    title: 'bare node http: drains the body, answers 200',
    program: 'bare.js',
    onlyReads: true,
    isQuick: true,
  },
  { name: 'min', title: 'MIN: hand-written minimum', program: 'min.js', isQuick: true },
  { name: 'min-strict', title: 'MIN + Bearer, zod, async handler', program: 'min-strict.js' },
  { name: 'min-tricks', title: 'the same with every correct trick', program: 'min-tricks.js' },
  { name: 'min-fastify', title: 'MIN on Fastify', program: 'min-fastify.js' },
  { name: 'min-hono', title: "MIN on Hono's Node server", program: 'min-hono.js' },
  {
    name: 'min-fetch-stream',
    title: 'the same, reads the body as a stream',
    program: 'min-fetch-stream.js',
  },
  { name: 'min-koa', title: 'MIN on Koa', program: 'min-koa.js' },
  { name: 'min-lambda', title: 'MIN on Lambda, behind a gateway of node http', program: 'min-lambda.js' },
  {
    name: 'octokit',
    title: '@octokit/webhooks createNodeMiddleware',
    program: 'octokit.js',
    scheme: 'github',
    isQuick: true,
  },
  {
    name: 'express-raw',
    title: 'Express 5, reads a raw body only',
    program: 'express-raw.js',
    onlyReads: true,
    isQuick: true,
  },
  { name: 'express-min', title: 'Express 5, MIN behind express.raw', program: 'express-min.js' },
  {
    name: 'express-stripe',
    title: 'Express 5, stripe.webhooks.constructEvent',
    program: 'express-stripe.js',
    scheme: 'stripe',
    isQuick: true,
  },
  { name: 'posthorn-node', title: 'posthorn toNode', program: 'posthorn-node.js', isQuick: true },
  { name: 'posthorn-express', title: 'posthorn toExpress', program: 'posthorn-express.js', isQuick: true },
  { name: 'posthorn-fastify', title: 'posthorn toFastify', program: 'posthorn-fastify.js' },
  { name: 'posthorn-koa', title: 'posthorn toKoa', program: 'posthorn-koa.js' },
  {
    name: 'posthorn-fetch',
    title: "posthorn toFetch on Hono's Node server",
    program: 'posthorn-fetch.js',
  },
  {
    name: 'posthorn-lambda',
    title: 'posthorn toLambda, behind a gateway of node http',
    program: 'posthorn-lambda.js',
  },
];

/** @type {readonly Contender[]} */
const withRedis = [
  {
    name: 'min-redis-one',
    title: 'MIN + Redis: SET NX PX',
    program: 'min-redis.js --dedupe one',
    needsRedis: true,
  },
  {
    name: 'min-redis-two',
    title: 'MIN + Redis: two plain commands',
    program: 'min-redis.js --dedupe two',
    needsRedis: true,
    isQuick: true,
  },
  {
    name: 'min-redis-scripts',
    title: 'MIN + Redis: two EVALSHA',
    program: 'min-redis.js --dedupe scripts',
    needsRedis: true,
  },
  {
    name: 'min-redis-unpipelined',
    title: 'the last without auto-pipelining',
    program: 'min-redis.js --dedupe scripts --unpipelined',
    needsRedis: true,
  },
  {
    name: 'posthorn-redis',
    title: 'posthorn createRedisStore, auto-pipelining client',
    program: 'posthorn-redis.js',
    needsRedis: true,
    isQuick: true,
  },
  {
    name: 'posthorn-redis-keyed',
    title: 'the same, the handler has a concurrency key',
    program: 'posthorn-redis.js --keyed',
    needsRedis: true,
    isQuick: true,
  },
  {
    name: 'posthorn-redis-unpipelined',
    title: 'posthorn createRedisStore, plain client',
    program: 'posthorn-redis.js --unpipelined',
    needsRedis: true,
    isQuick: true,
  },
  {
    name: 'min-queue',
    title: 'MIN + queue.add of BullMQ',
    program: 'min-queue.js',
    needsRedis: true,
    isQuick: true,
  },
  {
    name: 'posthorn-queue',
    title: 'posthorn createBullQueue',
    program: 'posthorn-queue.js',
    needsRedis: true,
    isQuick: true,
  },
];

/** @type {readonly Contender[]} */
const withPostgres = [
  {
    name: 'min-postgres',
    title: 'MIN + PostgreSQL: two plain statements',
    program: 'min-postgres.js',
    needsPostgres: true,
    isQuick: true,
  },
  {
    name: 'posthorn-postgres',
    title: 'posthorn createPostgresStore',
    program: 'posthorn-postgres.js',
    needsPostgres: true,
    isQuick: true,
  },
  {
    name: 'min-inbox',
    title: 'MIN, `on conflict do nothing` in the transaction of its handler',
    program: 'min-inbox.js --receiver min',
    needsPostgres: true,
  },
  {
    name: 'hand-inbox',
    title: 'posthorn, the same by hand in its handler',
    program: 'min-inbox.js --receiver posthorn',
    needsPostgres: true,
    isQuick: true,
  },
  {
    name: 'posthorn-inbox',
    title: 'posthorn createPostgresInbox',
    program: 'posthorn-inbox.js',
    needsPostgres: true,
    isQuick: true,
  },
];

/** @type {readonly Contender[]} */
const flatCost = [
  {
    name: 'remembered-1k',
    title: 'posthorn, 1,000 remembered ids',
    program: 'posthorn-node.js --remembered 1000',
  },
  {
    name: 'remembered-1m',
    title: 'posthorn, 1,000,000 remembered ids',
    program: 'posthorn-node.js --remembered 1000000',
  },
  { name: 'handlers-1k', title: 'posthorn, 1,000 handlers', program: 'posthorn-node.js --handlers 1000' },
  { name: 'min-100kb', title: 'MIN, bodies of 100 kB', program: 'min.js', bodyBytes: 100_000 },
  {
    name: 'posthorn-100kb',
    title: 'posthorn, bodies of 100 kB',
    program: 'posthorn-node.js',
    bodyBytes: 100_000,
  },
];

/** @type {readonly Contender[]} */
const observed = ['metrics', 'logs', 'traces'].map((name) => ({
  name: `posthorn-${name}`,
  title: `posthorn toNode, with ${name}`,
  program: `posthorn-node.js --observed-by ${name}`,
  isQuick: true,
}));

/** Every contender, in the order of the table. */
export const contenders = [...withoutStore, ...observed, ...withRedis, ...withPostgres, ...flatCost];
