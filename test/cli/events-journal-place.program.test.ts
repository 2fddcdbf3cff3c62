import { createPostgresJournal } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { ampleJournal } from '../stores/kit/journal/journal-case.ts';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { printed, refusal } from './ended.ts';
import { fillJournal, record, recordsOf } from './journal-entries.ts';
import { jsonLines, paste, posthorn } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

const database = useDatabase();

const usage = (message: RegExp) =>
  refusal(2, expect.stringMatching(RegExp(`^posthorn: ${message.source} \\(usage_invalid\\)\n$`)));

/** A module with a receiver whose journal has two events; `options` are further ones of the receiver. */
async function writeReceiver(scope: string, options = ''): Promise<string> {
  const filled = createPostgresJournal(database.connect(), { scope, ...ampleJournal });
  await fillJournal(filled, recordsOf(['evt_1', 'evt_2']));
  const { file } = await writeModule(`
    import pg from 'pg';
    import { createReceiver } from 'posthorn';
    import { createPostgresJournal } from 'posthorn/postgres';
    import { stripe } from 'posthorn/providers';
    const pool = new pg.Pool({ connectionString: '${database.url()}' });
    const journal = createPostgresJournal(pool, {
      scope: '${scope}',
      retentionMs: ${ampleJournal.retentionMs},
    });
    export const receiver = createReceiver({ signingKey: 'k', journal, ${options} });`);
  return file;
}

describe('the journal of a receiver', () => {
  test('is listed, shown and pruned by --receiver', async () => {
    const receiver = await writeReceiver('of-receiver');
    const listed = await posthorn(['events', 'list', '--receiver', receiver, '--limit', '1', '--json']);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    const [{ id } = {}, { next } = {}] = jsonLines(listed);
    expect(id).toBe('evt_1');
    const rest = await paste(String(next));
    expect(jsonLines({ stdout: rest })).toEqual([
      expect.objectContaining({ id: 'evt_2' }),
      { kind: 'summary', events: 1, more: false },
    ]);
    const shown = await posthorn(['events', 'show', 'evt_2', '--receiver', receiver]);
    expect(shown.stdout).toContain('\nbody, 42 bytes\n{"id":"evt_2"');
    const prune = ['events', 'prune', '--older-than', '1d', '--yes', '--receiver', receiver];
    expect(await posthorn(prune)).toEqual(printed('2 pruned\n'));
  });

  test('its provider knows the types', async () => {
    const list = async (receiver: string, type: string) =>
      posthorn(['events', 'list', '--receiver', receiver, '--type', type]);
    const ofStripe = await writeReceiver('of-stripe', 'provider: stripe(),');
    expect(await list(ofStripe, 'invoice.void')).toEqual(printed('0 events\n'));
    const ofService = await writeReceiver('of-service');
    expect(await list(ofService, 'dispute.losst')).toEqual(usage(/--type: .*; the nearest is dispute\.lost/));
  });

  test('of your own is asked for no bodies by a list, and may give them', async () => {
    const { file } = await writeModule(`
      import { createReceiver } from 'posthorn';
      const entry = {
        ...{ id: 'evt_1', provider: 'banking-service', firstReceivedAt: 0, lastReceivedAt: 0, deliveries: 1, attempts: 1 },
        ...{ outcome: 'processed', handled: [], rawBody: Buffer.from('{}'), headers: { a: ['b'] } },
      };
      const journal = {
        async record() {},
        async get() {},
        async *list({ bodies }) {
          if (bodies !== false) throw new Error('bodies were asked for');
          yield entry;
        },
        async prune() {},
      };
      export const receiver = createReceiver({ signingKey: 'k', journal });`);
    const [event] = jsonLines(await posthorn(['events', 'list', '--receiver', file, '--json']));
    expect(event).toMatchObject({ kind: 'event', id: 'evt_1' });
    expect(event).not.toHaveProperty('rawBody');
    const prune = ['events', 'prune', '--older-than', '1d', '--dry-run', '--receiver', file];
    expect(await posthorn(prune)).toEqual(printed('1 would be pruned\n'));
  });

  test('a receiver without one, or of an earlier version, is exit code 2', async () => {
    const list = async (code: string) =>
      posthorn(['events', 'list', '--receiver', (await writeModule(code)).file]);
    const without = `import { createReceiver } from 'posthorn';
      export const receiver = createReceiver({ signingKey: 'k' });`;
    expect(await list(without)).toEqual(
      usage(
        /the receiver has no journal: give createReceiver the option journal, or say with --scope where the journal is/,
      ),
    );
    const earlier = 'export const receiver = { replay() {}, drop() {}, close() {} };';
    expect(await list(earlier)).toEqual(
      usage(/the receiver is of posthorn 0\.2 or earlier: the module must import this version/),
    );
  });
});

describe('the place of the journal', () => {
  test('is a schema of PostgreSQL, and the printed command has it', async () => {
    const env = { POSTGRES_URL: database.url() };
    const place = ['--scope', 'a', '--schema', 'webhooks'];
    const missing = await posthorn(['events', 'list', ...place], { env });
    expect(missing).toEqual(
      refusal(3, expect.stringMatching(/migrate --schema webhooks.*\(journal_unavailable\)\n$/)),
    );
    await posthorn(['postgres', 'migrate', '--schema', 'webhooks'], { env });
    const journal = createPostgresJournal(database.connect(), {
      scope: 'a',
      schema: 'webhooks',
      ...ampleJournal,
    });
    await fillJournal(journal, recordsOf(['evt_1', 'evt_2']));
    const { stdout } = await posthorn(['events', 'list', ...place, '--limit', '1'], { env });
    const [, next = ''] = /^the rest: (.*)$/m.exec(stdout) ?? [];
    expect(next).toMatch(/ --schema webhooks$/);
    expect(await paste(next, env)).toMatch(/ evt_2 .*\n1 event\n$/);
  });

  test('is the named one, also if an address is in the environment', async () => {
    const scope = 'named';
    const journal = createPostgresJournal(database.connect(), { scope, ...ampleJournal });
    await fillJournal(journal, [record('evt_1')]);
    const env = { POSTGRES_URL: 'postgres://127.0.0.1:1/billing', REDIS_URL: 'redis://127.0.0.1:1' };
    const list = ['events', 'list', '--scope', scope];
    expect(await posthorn([...list, '--postgres', database.url()], { env })).toMatchObject({ code: 0 });
    expect(await posthorn([...list, '--sqlite', 'absent.db'], { env })).toEqual(
      usage(/the file "absent\.db" does not exist: name the file of the receiver/),
    );
    expect(await posthorn(list, { env })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('PostgreSQL cannot be reached'),
    });
  });

  test.each([
    { args: '', message: /say where the journal is: --scope with POSTGRES_URL or --sqlite, or --receiver/ },
    {
      args: '--scope a',
      message:
        /the address of the journal is missing or wrong: POSTGRES_URL or --postgres must begin with postgres:\/\/; or give --sqlite/,
    },
    { args: '--sqlite a.db', message: /the scope of the journal is missing: give --scope/ },
    {
      args: '--scope a --sqlite a.db --postgres postgres://127.0.0.1/a',
      message: /give one of --postgres and --sqlite: the journal is in one place/,
    },
    {
      args: '--scope a --receiver ./receiver.js',
      message: /give one of --scope and --receiver: the journal is in one place/,
    },
    { args: '--receiver absent.js', message: /--receiver must name a file, and "absent\.js" is not one/ },
  ])('"$args" is exit code 2', async ({ args, message }) => {
    const place = args.split(' ').filter((word) => word !== '');
    for (const command of ['list', 'show evt_1', 'prune --older-than 1d --yes'])
      expect(await posthorn(['events', ...command.split(' '), ...place])).toEqual(usage(message));
  });

  test('is in no other store', async () => {
    for (const flag of ['--redis', '--dynamodb', '--dir'])
      expect(await posthorn(['events', 'list', flag, 'a'])).toEqual(
        refusal(2, expect.stringContaining(`unknown option '${flag}'`)),
      );
  });
});

describe('wrong options', () => {
  const outcomes = 'processed, parked, queued, failed, ignored, rejected';
  test.each([
    { args: 'list --outcome done', message: `Allowed choices are ${outcomes}.` },
    { args: 'list --since yesterday', message: 'It must be a time such as 2026-03-31T09:00:00Z, or an age' },
    { args: 'list --until 2026-02-30', message: 'It must be a time such as 2026-03-31T09:00:00Z, or an age' },
    { args: 'list --since 999999999d', message: 'It must be a time such as 2026-03-31T09:00:00Z, or an age' },
    { args: 'list --since 1h --until 2h', message: '--since must be before --until' },
    { args: 'list --limit 0', message: 'It must be a whole number from 1 on.' },
    { args: 'list --type transfer.*.a', message: 'It must be a type such as transfer.succeeded' },
    {
      args: 'list --after evt_x',
      message: '--after: the journal has no event with the id "evt_x"; take an id',
    },
    { args: 'prune --yes', message: "required option '--older-than <age>' not specified" },
    { args: 'prune --older-than 90 --yes', message: 'It must be an age such as 90d or 12h.' },
    { args: 'prune --older-than 999999999d', message: 'It must be an age such as 90d or 12h.' },
  ])('$args is exit code 2', async ({ args, message }) => {
    const env = { POSTGRES_URL: database.url() };
    expect(await posthorn(`events ${args} --scope a`, { env })).toEqual(
      refusal(2, expect.stringContaining(message)),
    );
  });
});
