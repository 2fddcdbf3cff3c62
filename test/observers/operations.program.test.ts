import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { observeWithPrometheus } from 'posthorn/prometheus';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { packageRoot } from '../support/child-program.ts';
import { rowsOf } from '../support/table-rows.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { bringAboutEveryOutcome } from './every-outcome.ts';
import { type Family, parseExposition } from './exposition.ts';

const folder = join(packageRoot, 'docs', 'operations');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

const rules = read('posthorn.rules.yml');
const ruleTests = read('posthorn.rules.test.yml');
const page = readFileSync(join(packageRoot, 'docs', 'operations.md'), 'utf8');
const alerts = rules.match(/(?<=- alert: )\w+/g) ?? [];
const severities = rules.match(/(?<= severity: )\w+/g) ?? [];

const datasource = z.strictObject({
  type: z.literal('prometheus'),
  uid: z.string().regex(/^\$\{datasource\}$/),
});
/** The parts of a dashboard that Grafana needs, and nothing that is left over from somebody's own Grafana. */
const dashboardSchema = z.object({
  title: z.string().min(1),
  uid: z.literal('posthorn'),
  // Grafana would overwrite another dashboard with it.
  id: z.undefined().optional(),
  schemaVersion: z.number().int().min(36),
  templating: z.object({
    list: z.tuple([
      z.object({
        name: z.literal('datasource'),
        type: z.literal('datasource'),
        query: z.literal('prometheus'),
      }),
      z.object({
        name: z.literal('job'),
        type: z.literal('query'),
        datasource,
        query: z.object({ query: z.string() }),
      }),
    ]),
  }),
  panels: z
    .array(
      z.object({
        id: z.number().int().positive(),
        type: z.enum(['stat', 'timeseries']),
        title: z.string().min(1),
        description: z.string().min(1),
        datasource,
        gridPos: z.object({
          x: z.number().int().min(0),
          y: z.number().int().min(0),
          w: z.number().int().positive(),
          h: z.number().int().positive(),
        }),
        targets: z
          .array(z.object({ refId: z.string(), datasource, expr: z.string(), legendFormat: z.string() }))
          .min(1),
      }),
    )
    .min(10),
});
const dashboard = dashboardSchema.parse(JSON.parse(read('grafana-dashboard.json')));
const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

let scraped: Promise<string> | undefined;

/** What a receiver says that has seen everything: the first test that asks brings it about. */
function scrape(): Promise<string> {
  scraped ??= (async () => {
    const register = new Registry();
    await bringAboutEveryOutcome((receiver) => observeWithPrometheus(receiver, { register }));
    return register.metrics();
  })();
  return scraped;
}

async function scrapedFamilies(): Promise<ReadonlyMap<string, Family>> {
  return parseExposition(await scrape());
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function promtool(args: readonly string[], input?: string): Ended {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8', input });
  return { code: status, output: stdout + stderr };
}

/** Tests other rules than ours with our series. */
function testRules(changed: string): Ended {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'posthorn.rules.yml'), changed);
  // So sparse that it takes a quarter of the time. Each of these rules gives the same at every moment.
  const sparse = ruleTests.replace(/^evaluation_interval: 2m$/m, 'evaluation_interval: 10m');
  writeFileSync(join(directory, 'tests.yml'), sparse);
  return promtool(['test', 'rules', join(directory, 'tests.yml')]);
}

/** The names of metrics in an expression or a text, as the scrape has them. */
function metricsIn(text: string): string[] {
  const names = text.match(/\bposthorn_[a-z_]+/g) ?? [];
  return [...new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, '')))];
}

describe('promtool', () => {
  test('finds nothing to complain about in what is scraped', async () => {
    expect(promtool(['check', 'metrics'], await scrape())).toEqual({ code: 0, output: '' });
  });

  test('finds the rules good', () => {
    const { code, output } = promtool(['check', 'rules', '--lint=all', '--lint-fatal', 'posthorn.rules.yml']);
    expect([code, output]).toEqual([0, expect.stringContaining(`${alerts.length} rules found`)]);
  });

  test('sees the rules fire where they should, and only there', () => {
    expect(promtool(['test', 'rules', 'posthorn.rules.test.yml'])).toMatchObject({ code: 0 });
  });

  test.each(['vector(0) > 1', 'vector(1)'])('would notice each rule that were %s', (expression) => {
    const changed = rules.replaceAll(/(?<=\n +expr: ).*?(?=\n +(for|labels):)/gs, expression);
    expect(changed.split(expression).length - 1).toBe(alerts.length);
    const { code, output } = testRules(changed);
    expect(code).not.toBe(0);
    expect(alerts.filter((alert) => !output.includes(`alertname: ${alert}`))).toEqual([]);
  });

  test('can read every expression of the dashboard', () => {
    const readable = expressions.map((expression) =>
      expression.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '6h').replaceAll('$job', '.+'),
    );
    const group = {
      name: 'dashboard',
      rules: readable.map((expr, index) => ({ record: `panel:${index}`, expr })),
    };
    const directory = temporaryDirectory();
    const path = join(directory, 'rules.yml');
    // JSON is YAML.
    writeFileSync(path, JSON.stringify({ groups: [group] }));
    expect(promtool(['check', 'rules', path])).toMatchObject({ code: 0 });
  });
});

describe('the rules', () => {
  test('use only metrics and label values that a receiver has', async () => {
    const families = await scrapedFamilies();
    expect(alerts.length).toBeGreaterThanOrEqual(10);
    expect(metricsIn(rules).filter((name) => !families.has(name))).toEqual([]);
    expect(metricsIn(ruleTests).filter((name) => !families.has(name))).toEqual([]);
    const codes = [...rules.matchAll(/posthorn_warnings_total\{code=~?"([a-z_|]+)"/g)].flatMap(
      ([, list = '']) => list.split('|'),
    );
    const known = families.get('posthorn_warnings_total')?.samples.map(({ labels }) => labels.code);
    expect(codes.length).toBeGreaterThan(2);
    expect(known).toEqual(expect.arrayContaining(codes));
  });

  test('each lead to a section of docs/operations.md, which has no other', () => {
    const runbooks = [...rules.matchAll(/runbook: docs\/operations\.md#(\w+)/g)].map(([, anchor]) => anchor);
    expect(runbooks).toEqual(alerts.map((alert) => alert.toLowerCase()));
    expect(page.match(/(?<=^### )\w+$/gm)).toEqual(alerts);
  });

  test('stand in the table of docs/operations.md, with their severities and a command each', () => {
    const rows = rowsOf('docs/operations.md').filter(([name = '']) => /^\[Posthorn\w+\]/.test(name));
    expect(rows.map(([name, severity, command]) => [name, severity, /^`.+`$/.test(command ?? '')])).toEqual(
      alerts.map((alert, index) => [`[${alert}](#${alert.toLowerCase()})`, severities[index], true]),
    );
  });
});

describe('docs/operations.md', () => {
  test('has each metric, with its type and its labels, and no other', async () => {
    const families = await scrapedFamilies();
    const rows = [...page.matchAll(/^\| `(posthorn_\w+)` \| (\w+)(?:: (.*?))? \|/gm)];
    const documented = rows.map(([, name = '', type, labels = '']) => [
      name,
      [type, ...(labels.match(/\w+/g) ?? []).toSorted()].join(' '),
    ]);
    const real = [...families].map(([name, { type, samples }]) => {
      const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
      labels.delete('le');
      return [name, [type, ...[...labels].toSorted()].join(' ')];
    });
    expect(new Map(documented.map(([name = '', form]) => [name, form]))).toEqual(
      new Map(Object.entries(Object.fromEntries(real))),
    );
  });
});

describe('the dashboard', () => {
  test('shows every metric that a receiver has, and no other', async () => {
    const families = await scrapedFamilies();
    expect(metricsIn(expressions.join('\n')).sort()).toEqual([...families.keys()].sort());
  });

  test('has panels with ids of their own, side by side', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const taken = new Set<string>();
    for (const { title, gridPos, targets } of dashboard.panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x} ${y}`), title).toBe(false);
          taken.add(`${x} ${y}`);
        }
      }
      expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
    }
  });

  test('asks each time for the chosen data source and the chosen jobs', () => {
    for (const expression of expressions) {
      const selectors = expression.match(/posthorn_\w+(\{[^}]*\})?/g) ?? [];
      expect(selectors.length).toBeGreaterThan(0);
      for (const selector of selectors) expect(selector).toMatch(/\{job=~"\$job"[,}]/);
    }
  });
});
