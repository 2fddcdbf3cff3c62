import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type OutputChunk, rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

type Platform = 'browser' | 'neutral' | 'node';

/** What a bundler makes of a program that exports these names of ours, minified. */
async function bundle(platform: Platform, exported: Readonly<Record<string, string>>): Promise<OutputChunk> {
  const program = Object.entries(exported).map(([name, file]) => `export { ${name} } from './${file}';`);
  const entry = join(packageRoot, 'entry.js');
  const bundler = await rolldown({
    input: entry,
    platform,
    external: /^node:/,
    resolve: { mainFields: ['module', 'main'] },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? program.join('\n') : undefined),
      },
    ],
  });
  const { output } = await bundler.generate({ minify: true });
  await bundler.close();
  expect(output).toHaveLength(1);
  return output[0];
}

const receiver = { createReceiver: 'src/index.ts' };
const worker = { ...receiver, toFetch: 'adapters/fetch.ts' };
const lambda = { ...receiver, toLambda: 'adapters/lambda.ts' };

test.each<[string, Platform, Readonly<Record<string, string>>]>([
  ['a Worker', 'browser', worker],
  ['a Worker', 'neutral', worker],
  ['a Lambda function', 'node', lambda],
])('%s bundled for "%s" takes the core along, of zod what it needs, and no more', async (...given) => {
  const [, platform, exported] = given;
  const { code, modules, imports, dynamicImports } = await bundle(platform, exported);
  // docs/runtimes.md has the sizes that esbuild makes: test/matrix/workers.matrix.test.ts holds those.
  expect(code.length).toBeLessThanOrEqual(196_500);
  expect(gzipSync(code).length).toBeLessThanOrEqual(64_000);

  const taken = Object.entries(modules).filter(([, { renderedLength }]) => renderedLength > 0);
  const files = taken.map(([id]) => relative(packageRoot, id).replaceAll('\\', '/'));
  expect(files).toEqual(
    expect.arrayContaining(['src/receiver/receiver.ts', 'src/receiver/queue/queued-job.ts']),
  );
  const packages = files.filter((file) => file.startsWith('node_modules/'));
  const foldersNeeded = /^node_modules\/(lru-cache\/dist|zod\/v4\/(core|mini))\//;
  expect(packages.filter((file) => !foldersNeeded.test(file))).toEqual([]);
  const inside =
    /^(src\/(receiver\/|providers\/(banking-service\/|iso-time\.ts|parse-json\.ts)|stores\/(memory\/|kit\/claim-rule\.ts|list\.ts)|create-receiver\.ts|index\.ts)|adapters\/)/;
  const ours = files.filter((file) => /^(src|adapters)\//.test(file));
  expect(ours.filter((file) => !inside.test(file))).toEqual([]);
  // Of the list of stores the receiver needs only what it advises.
  expect(code).toContain('createSqliteStore');
  expect(code).not.toMatch(/createSqliteDeadLetters|better-sqlite3|@aws-sdk/);
  const builtins = ['buffer', 'crypto', 'diagnostics_channel', 'http', 'util'].map((name) => `node:${name}`);
  expect([...imports, ...dynamicImports].filter((name) => !builtins.includes(name))).toEqual([]);
});
