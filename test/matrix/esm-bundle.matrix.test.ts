import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { linkPackage } from '../support/installed-package.ts';
import { snippetWith } from '../support/snippet.ts';

const SERVER = `
  import { createServer } from 'node:http';
  import { createReceiver } from 'posthorn';
  import { toNode } from 'posthorn/node';
  import { createEvent, deliver } from 'posthorn/testing';
  const receiver = createReceiver({ signingKey: 'k' }).on('*', () => {}).observe(() => {});
  const server = createServer(toNode(receiver)).listen(0, '127.0.0.1', async () => {
    const url = \`http://127.0.0.1:\${server.address().port}\`;
    console.log((await deliver(url, createEvent('transfer.created'), { key: 'k' })).status);
    server.close();
  });`;

test('posthorn/node bundled by esbuild as ESM starts with the banner of docs/runtimes.md, and not without', () => {
  const { project, run, remove } = linkPackage('esbuild@0.28.2');
  onTestFinished(remove);
  writeFileSync(join(project, 'server.js'), SERVER);
  const withBanner = snippetWith('--banner:js', 'docs/runtimes.md', 'sh');
  const [without = ''] = withBanner.split(' \\\n');
  const printedBy = (bundling: string): string =>
    run('sh', ['-c', `{ ${bundling}\n} >&2; node server.mjs 2>&1 || true`]).trim();
  expect(printedBy(without)).toContain('Error: Dynamic require of');
  expect(printedBy(withBanner)).toBe('200');
});
