/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} title
 * @property {string} program in bench/contenders
 * @property {readonly string[]} [arguments]
 * @property {string} [scheme] of load/schemes.js; `service` by default
 * @property {boolean} [onlyReads] it refuses nothing
 * @property {boolean} [needsRedis]
 * @property {number} [bodyBytes] 700 by default
 * @property {boolean} [isQuick] part of `--quick`
 */

/** @type {readonly Contender[]} */
export const contenders = [
  { name: 'bare', title: 'bare node http: drains the body, answers 200', program: 'bare.js', onlyReads: true, isQuick: true },
  { name: 'min', title: 'MIN: hand-written minimum', program: 'min.js', isQuick: true },
  { name: 'octokit', title: '@octokit/webhooks createNodeMiddleware', program: 'octokit.js', scheme: 'github', isQuick: true },
  { name: 'express-raw', title: 'Express 5 that only reads a raw body', program: 'express-raw.js', onlyReads: true, isQuick: true },
  { name: 'express-min', title: "MIN's logic behind express.raw", program: 'express-min.js' },
  { name: 'express-stripe', title: 'Express 5 with stripe.webhooks.constructEvent', program: 'express-stripe.js', scheme: 'stripe', isQuick: true },
  { name: 'posthorn-node', title: 'posthorn toNode', program: 'posthorn-node.js', isQuick: true },
  { name: 'posthorn-express', title: 'posthorn toExpress', program: 'posthorn-express.js', isQuick: true },
];
