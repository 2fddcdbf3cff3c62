import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { packageRoot } from '../support/child-program.ts';
import { rowsAfter } from '../support/table-rows.ts';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

const rounds = z.object({
  throughput: z.record(z.string(), z.array(z.object({ requestsPerSecond: z.number() }))),
});
const asleep = rounds.parse(JSON.parse(read('bench/results/receivers.json'))).throughput;
const awake = rounds.parse(JSON.parse(read('bench/results/receivers-awake.json'))).throughput;

function ratesOf(run: typeof asleep, name: string): readonly number[] {
  const found = run[name]?.map(({ requestsPerSecond }) => requestsPerSecond) ?? [];
  expect(found, name).toHaveLength(5);
  return found;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}

/** As the page writes it: the median, the least and the greatest of the rounds' ratios. */
function ratioOf(run: typeof asleep, name: string, against: string): string {
  const base = ratesOf(run, against);
  const ratios = ratesOf(run, name).map((rate, round) => rate / (base[round] ?? Number.NaN));
  const [middle, least, greatest] = [median(ratios), Math.min(...ratios), Math.max(...ratios)];
  return `${middle.toFixed(2)} (${least.toFixed(2)}–${greatest.toFixed(2)})`;
}

test('the ratios of docs/performance.md are those of the results', () => {
  const rows = rowsAfter(read('docs/performance.md'), '| against | ratio of requests');
  const ofAwake = (name: string, against: string): string =>
    `; ${ratioOf(awake, name, against)} if the load never sleeps`;
  expect(rows.map(([, ratio]) => ratio)).toEqual([
    ratioOf(asleep, 'posthorn-node', 'min') + ofAwake('posthorn-node', 'min'),
    ratioOf(asleep, 'posthorn-node', 'octokit') + ofAwake('posthorn-node', 'octokit'),
    ratioOf(asleep, 'posthorn-express', 'express-raw'),
    ratioOf(asleep, 'posthorn-express', 'express-stripe'),
    ratioOf(asleep, 'posthorn-redis', 'min-redis-two'),
    ratioOf(asleep, 'posthorn-queue', 'min-queue'),
    ratioOf(asleep, 'posthorn-postgres', 'min-postgres'),
  ]);
});

describe('the plots of docs/performance.md have been drawn from the results', () => {
  test.each([
    [
      'performance-receivers',
      ['bare', 'min', 'octokit', 'posthorn-node', 'express-stripe', 'posthorn-express'],
    ],
    ['performance-stores', ['min-redis-two', 'posthorn-redis', 'posthorn-queue', 'posthorn-postgres']],
  ])('%s', (file, names) => {
    const svg = read(`docs/images/${file}.svg`);
    const shown = names.map((name) => Math.round(median(ratesOf(asleep, name))).toLocaleString('en'));
    expect(shown.filter((rate) => !svg.includes(`>${rate}</text>`))).toEqual([]);
  });
});
