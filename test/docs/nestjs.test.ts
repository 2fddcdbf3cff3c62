import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { packageRoot } from '../support/child-program.ts';
import { readDocument } from '../support/documents.ts';
import { rowsOf } from '../support/table-rows.ts';

const page = readDocument('docs/nestjs.md');

/** The parts of messages that the page quotes, without those of NestJS and of single options. */
const quotes = rowsOf(page.path)
  .map(([cell = '']) => /^"([^"…]+)"$/.exec(cell)?.[1])
  .filter((quote) => quote !== undefined);

/** The source of each message of the module, in one line. */
const messages = readdirSync(join(packageRoot, 'src/nestjs'))
  .map((name) => readFileSync(join(packageRoot, 'src/nestjs', name), 'utf8'))
  .flatMap((source) => source.match(/(?<=new ConfigurationError\()[\s\S]*?(?=\);)/g) ?? [])
  .map((message) => message.replace(/['"`] \+\s+['"`]/g, ''));

test('the page quotes messages of the module', () => {
  expect(quotes).not.toEqual([]);
  expect(quotes.filter((quote) => !messages.some((message) => message.includes(quote)))).toEqual([]);
});

test('each message of the module says the way out, as the page promises', () => {
  const wayOut = /: (write|give|provide|import|inject|install|update|create|set|add) | must return /;
  expect(messages.length).toBeGreaterThan(10);
  expect(
    messages.filter((message) => !wayOut.test(message)),
    'all but the one that passes on the message of `receiver.on`',
  ).toEqual([expect.stringContaining('messageOf(cause)')]);
});

test('the first application takes twelve lines', () => {
  const [module] = page.blocks.filter(({ language }) => language === 'ts');
  const lines = module?.code.split('\n').filter((line) => line !== '' && !line.startsWith('//'));
  expect([...(lines ?? []), 'app.enableShutdownHooks();']).toHaveLength(12);
  expect(page.text).toContain('`app.enableShutdownHooks();`');
});

test('the page names the versions that the package accepts', () => {
  const { '@nestjs/common': common, '@nestjs/core': core } = manifest.peerDependencies;
  // On 10 a receiver is mounted by hand: npm would not install the package beside a version out of the range.
  expect([common, core]).toEqual(Array(2).fill('^10.0.0 || ^11.0.0 || ^12.0.0'));
  expect(page.text).toContain('NestJS 11.1.4 or later and 12,');
});
