// Draws the plots of docs/performance.md from what `npm run bench -- --json` has written: node bench/plots/draw.js
// Vega-Lite makes the SVG, without a browser.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, View } from 'vega';
import { compile } from 'vega-lite';
import { contenders } from '../run/contenders.js';
import { median } from '../run/statistics.js';

const fromHere = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
/** @type {{ throughput: Record<string, { requestsPerSecond: number }[]> }} */
const { throughput } = JSON.parse(readFileSync(fromHere('../results/receivers.json'), 'utf8'));

/** Each plot has servers that do the same work: without a store, and with one. */
const plots = [
  {
    file: 'performance-receivers',
    title: 'Requests per second, without a server for ids',
    names: ['bare', 'min', 'octokit', 'posthorn-node', 'express-raw', 'express-stripe', 'posthorn-express'],
  },
  {
    file: 'performance-stores',
    title: 'Requests per second, with Redis, a queue and PostgreSQL',
    names: [
      'min-redis-two',
      'posthorn-redis',
      'min-queue',
      'posthorn-queue',
      'min-postgres',
      'posthorn-postgres',
    ],
  },
];

for (const { file, title, names } of plots) {
  const values = names.map(barOf);
  const { spec } = compile(plotOf(title, values));
  const svg = await new View(parse(spec), { renderer: 'none' }).toSVG();
  writeFileSync(fromHere(`../../docs/images/${file}.svg`), `${svg}\n`);
}

/** The median of the rounds, the least and the greatest. */
function barOf(/** @type {string} */ name) {
  const rates = (throughput[name] ?? []).map(({ requestsPerSecond }) => requestsPerSecond);
  if (rates.length === 0) throw new Error(`bench/results/receivers.json has no rounds of ${name}`);
  const server = contenders.find((each) => each.name === name)?.title ?? name;
  const rate = Math.round(median(rates));
  return {
    server,
    rate,
    least: Math.min(...rates),
    greatest: Math.max(...rates),
    ours: name.startsWith('posthorn'),
  };
}

/**
 * @param {string} title
 * @param {readonly ReturnType<typeof barOf>[]} values
 * @returns {import('vega-lite').TopLevelSpec}
 */
function plotOf(title, values) {
  const y = /** @type {const} */ ({
    field: 'server',
    type: 'nominal',
    sort: null,
    title: null,
    axis: { labelLimit: 400 },
  });
  return {
    title: { text: title, anchor: 'start' },
    data: { values: [...values] },
    width: 420,
    height: { step: 26 },
    background: 'white',
    layer: [
      {
        mark: 'bar',
        encoding: {
          y,
          x: { field: 'rate', type: 'quantitative', title: 'median of the rounds; the line is their spread' },
          color: {
            field: 'ours',
            type: 'nominal',
            scale: { domain: [true, false], range: ['#b07a1f', '#b9b9b4'] },
            legend: null,
          },
        },
      },
      {
        mark: { type: 'rule', strokeWidth: 2 },
        encoding: { y, x: { field: 'least', type: 'quantitative' }, x2: { field: 'greatest' } },
      },
      {
        mark: { type: 'text', align: 'left', dx: 6 },
        encoding: {
          y,
          x: { field: 'greatest', type: 'quantitative' },
          text: { field: 'rate', type: 'quantitative', format: ',' },
        },
      },
    ],
  };
}
