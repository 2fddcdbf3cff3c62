import { join } from 'node:path';
import { createReceiver } from 'posthorn';
import { createPostgresStore } from 'posthorn/postgres';
import { stripe } from 'posthorn/providers';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { KEY } from '../support/served.ts';
import { snippetWith } from '../support/snippet.ts';
import { paste, posthorn } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

const database = useDatabase();
const STRIPE = 'provider: stripe(),';

const writeReceiver = (provider = STRIPE, name = 'stripe-receiver.js') =>
  writeModule(
    `import pg from 'pg';
    import { createReceiver } from 'posthorn';
    import { createPostgresStore } from 'posthorn/postgres';
    import { stripe } from 'posthorn/providers';
    const store = createPostgresStore(new pg.Pool({ connectionString: '${database.url()}' }), { scope: 'senders' });
    export const receiver = createReceiver({ ${provider} signingKey: '${KEY}', store }).on('*', () => {});`,
    [],
    name,
  );

/** Imports an id that is four days old. */
async function importId(
  id: string,
  { args = [], provider }: { args?: readonly string[]; provider?: string } = {},
) {
  const { file } = await writeReceiver(provider);
  const input = `${id}\t${Date.now() - 4 * 86_400_000}\n`;
  return posthorn(['ids', 'import', '-', '--receiver', file, ...args], { input });
}

const openStore = () => createPostgresStore(database.connect(), { scope: 'senders' });

const stateOf = async (id: string) => (await openStore().peek?.({ id }))?.state;

describe('posthorn ids import of another sender', () => {
  test('takes a table of Stripe as the page lists it: its event is a duplicate, and no event of the service is', async () => {
    await database.sql(`create table processed_events (id text, created_at timestamptz);
      insert into processed_events values ('evt_young', now() - interval '3 days'), ('evt_old', now() - interval '4 days')`);
    const { file } = await writeReceiver();
    const commands = snippetWith('processed_events', 'docs/moving.md', 'sh');
    const printed = await paste(`cd '${join(file, '..')}'\n${commands}`, { POSTGRES_URL: database.url() });
    expect(printed).toBe('1 imported, 1 too young, 0 known before, 0 invalid\n');
    const provider = stripe();
    const outcomes: unknown[] = [];
    const common = { signingKey: KEY, store: openStore() };
    for (const id of ['evt_old', 'evt_young']) {
      const receiver = createReceiver({ ...common, provider }).on('*', () => {});
      const event = { ...createEvent('invoice.paid', undefined, { provider }), id };
      outcomes.push(await (await deliver(receiver, event, { provider, key: KEY })).json());
    }
    const own = createReceiver(common).on('*', () => {});
    outcomes.push(
      await (await deliver(own, { ...createEvent('dispute.won'), id: 'evt_old' }, { key: KEY })).json(),
    );
    expect(outcomes).toMatchObject(['duplicate', 'processed', 'processed'].map((outcome) => ({ outcome })));
  });

  test('makes the keys of an account, and says so', async () => {
    const provider = `${STRIPE} account: () => 'acct_1',`;
    expect(await importId('evt_1', { args: ['--account', 'acct_1'], provider })).toMatchObject({
      code: 0,
      stderr: 'the ids are those of stripe; in the store each is handled:from:6:stripe:6:acct_1:<id>\n',
    });
    expect(await stateOf('handled:from:6:stripe:6:acct_1:evt_1')).toBe('completed');
    expect(await stateOf('handled:from:6:stripe:-:evt_1')).toBe('unknown');
    expect(await importId('evt_1', { provider })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('say with --account of which one the ids are'),
    });
  });

  test('refuses keys in place of ids, and an account that no key would have', async () => {
    expect(await importId('handled:from:4:acme:-:evt_1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"handled:from:4:acme:-:evt_1" is the key of an event, and not its id'),
    });
    const provider = `${STRIPE} account: () => 'acct_1',`;
    expect(await importId('evt_1', { args: ['--account', ''], provider })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--account must be an account of 1 to 256 characters'),
    });
    expect(await importId('evt_1', { args: ['--account', 'a'], provider: '' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the receiver does not have the option account: leave out --account'),
    });
  });
});
