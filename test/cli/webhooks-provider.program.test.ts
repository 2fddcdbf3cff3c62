import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { WebhookService } from '../service/client/webhook-service.ts';
import { packageRoot } from '../support/child-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { jsonLines, posthorn } from './posthorn.ts';

const URL = 'http://127.0.0.1:3000/webhooks';
const PAYOUT = [{ entity: 'payout', types: ['created'] }];

const env = { POSTHORN_USERNAME: 'admin', POSTHORN_PASSWORD: 'literal-password' };

/** Opens a service that has added types since; runs `posthorn webhooks` against it. */
async function open() {
  const baseUrl = await new WebhookService().open();
  return async (...args: string[]): Promise<Record<string, unknown>[]> => {
    const ended = await posthorn(['webhooks', ...args, '--base-url', baseUrl, '--json'], { env });
    if (ended.code !== 0) throw new Error(ended.stderr);
    return jsonLines(ended);
  };
}

/** A module within the package, so that it can import it by its name. */
function moduleOf(code: string, name = 'provider.js'): string {
  const file = join(temporaryDirectory(join(packageRoot, 'dist')), name);
  writeFileSync(file, code);
  return file;
}

const SERVICE = `import { bankingService } from 'posthorn/providers';
  const service = bankingService({ catalog: { payout: ['created'] } });`;

describe('--provider', () => {
  test.each([
    ['its default export', moduleText('export default service;'), 'provider.js'],
    ['its export provider', moduleText('export const provider = service;'), 'provider.mjs'],
    [
      'module.exports of CommonJS',
      `const { bankingService } = require('posthorn/providers');
      module.exports = { provider: bankingService({ catalog: { payout: ['created'] } }) };`,
      'provider.cjs',
    ],
  ])('lets create, update and ensure take the types of %s', async (_, code, name) => {
    const results = await open();
    const ofPayouts = ['--event', 'payout.*', '--provider', moduleOf(code, name)];
    const [created] = await results('create', URL, ...ofPayouts);
    expect(created).toMatchObject({ webhook: { enabled_events: PAYOUT } });
    const { id } = Object(created).webhook;
    await results('update', id, '--event', 'dispute.won');
    const [updated] = await results('update', id, ...ofPayouts);
    expect(updated).toMatchObject({ webhook: { enabled_events: PAYOUT } });
    expect(await results('ensure', URL, ...ofPayouts)).toMatchObject([{ changes: [] }]);
  });

  test('refuses a misspelt type with the nearest, and a type that is not added', async () => {
    const results = await open();
    const create = (...args: string[]) =>
      posthorn(['webhooks', 'create', URL, ...args, '--base-url', 'http://127.0.0.1:9'], { env });
    const provider = moduleOf(moduleText('export default service;'));
    const misspelt = await create('--event', 'payout.creatd', '--provider', provider);
    expect(misspelt).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean payout.created?'),
    });
    expect(await create('--event', 'payout.created')).toMatchObject({ code: 2 });
    const any = await results('create', URL, '--event', 'refund.made', '--any', '--provider', provider);
    expect(any).toMatchObject([{ webhook: { enabled_events: [{ entity: 'refund', types: ['made'] }] } }]);
  });

  test.each([
    ['a file that is not there', () => '/none/provider.js', '--provider must name a file'],
    [
      'a module without a provider',
      () => moduleOf('export const provider = { types: [] };'),
      'must export a provider with types, such as bankingService({ catalog }), as `provider` or as its default',
    ],
    [
      'a provider without types',
      () => moduleOf("import { stripe } from 'posthorn/providers'; export default stripe();"),
      ', and its provider "stripe" has no list of types',
    ],
    [
      'a module that throws',
      () => moduleOf('throw new Error("no such thing");'),
      'cannot be loaded: no such thing',
    ],
  ])('names what is wrong with %s', async (_, path, problem) => {
    const args = ['webhooks', 'create', URL, '--event', 'payout.created', '--provider', path()];
    expect(await posthorn(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
  });
});

function moduleText(end: string): string {
  return `${SERVICE}\n${end}`;
}
