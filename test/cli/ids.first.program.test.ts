import { join } from 'node:path';
import { createPostgresStore } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { snippetWith } from '../support/snippet.ts';
import { paste } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

const database = useDatabase();

const postgresModule = () => `
  import pg from 'pg';
  import { createReceiver } from 'posthorn';
  import { createPostgresStore } from 'posthorn/postgres';
  const pool = new pg.Pool({ connectionString: '${database.url()}' });
  const store = createPostgresStore(pool, { scope: 'moved' });
  export const receiver = createReceiver({ signingKey: 'k', store }).on('*', () => {});`;

const oddIds = ['evt_old', 'evt\\back\\n', 'evt\ttab', 'evt\nline', '"evt"', "evt'é"];

describe('posthorn ids import', () => {
  test('writes into PostgreSQL what the commands of the pages list from a table', async () => {
    await database.sql(`create table webhook_events (event_id text, recorded_at timestamptz);
      insert into webhook_events values ('evt_young', now());
      insert into webhook_events select id, now() - interval '2 hours'
        from json_array_elements_text($json$${JSON.stringify(oddIds)}$json$) id`);
    const { file } = await writeModule(postgresModule());
    const commands = [
      snippetWith('from webhook_events', 'docs/cli.md', 'sh'),
      snippetWith('import ids.tsv', 'docs/moving.md', 'sh'),
    ];
    const env = { POSTGRES_URL: database.url() };
    const printed = await paste(`cd '${join(file, '..')}'\n${commands.join('')}`, env);
    expect(printed).toBe('6 imported, 1 too young, 0 known before, 0 invalid\n');
    const store = createPostgresStore(database.connect(), { scope: 'moved' });
    const claim = (id: string) =>
      store.claim({ id, token: 'delivery', leaseMs: 60_000, retentionMs: 3_600_000 });
    for (const id of oddIds) expect(await claim(id)).toEqual({ state: 'completed' });
    expect(await claim('evt_young')).toMatchObject({ state: 'claimed', attempt: 1 });
  });
});
