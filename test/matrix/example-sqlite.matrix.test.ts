import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { expectDeadLetters, expectDeliveries, openExample, stopInDelivery } from './example-project.ts';

/** A module that prints the entry of an event in the journal of the example, without its body. */
const SHOW_ENTRY = `
import { DatabaseSync } from 'node:sqlite';
import { createSqliteJournal } from 'posthorn/sqlite';

const journal = createSqliteJournal(new DatabaseSync('events.db'), { scope: 'billing-example' });
const { rawBody, ...entry } = await journal.get(process.argv[1]);
console.log(JSON.stringify({ ...entry, body: Buffer.from(rawBody).toString() }));`;

test('examples/sqlite handles each event once, also after a restart, and keeps letters and a journal', async () => {
  // Node.js 20 has no SQLite of its own.
  const example = openExample('sqlite', { node: '24.21.0' });
  const first = await example.start();
  await expectDeliveries(first);
  const event = createEvent('transfer.succeeded', { id: 'TR_1', amount: 7, state: 'SUCCEEDED' });
  const old = { ...event, id: `${event.id}_old`, created_at: new Date(Date.now() - 60_000).toISOString() };
  expect((await deliver(first.url, event, { key: first.key })).status).toBe(200);
  expect((await deliver(first.url, old, { key: first.key })).status).toBe(200);
  await expectDeadLetters(first);
  expect(await first.stop()).toBe(0);

  const second = await example.start();
  const again = await deliver(second.url, event, { key: second.key });
  expect(await again.json()).toMatchObject({ outcome: 'duplicate' });
  expect(await stopInDelivery(second)).toBe(0);

  // The program of the package takes the SQLite of Node.js, and says nothing of an experiment.
  const runtime = join(example.folder, 'node_modules', '.bin', 'node');
  const program = join(example.folder, 'node_modules', 'posthorn', 'dist', 'src', 'cli', 'bin.js');
  const args = ['dead-letters', 'list', '--scope', 'billing-example', '--sqlite', 'events.db', '--json'];
  const listed = execFileSync(runtime, [program, ...args], { cwd: example.folder, encoding: 'utf8' });
  expect(JSON.parse(listed)).toEqual({
    kind: 'summary',
    letters: 0,
    running: 0,
    old: 0,
    missing: 0,
    more: false,
  });
  const evaluated = ['--no-warnings', '--input-type=module', '--eval', SHOW_ENTRY, event.id];
  const shown = execFileSync(runtime, evaluated, { cwd: example.folder, encoding: 'utf8' });
  expect(JSON.parse(shown)).toMatchObject({
    outcome: 'processed',
    deliveries: 2,
    handled: ['book', 'state'],
    resource: 'TR_1',
    body: JSON.stringify(event),
  });
  const migrated = execFileSync('sh', ['-c', `"${runtime}" "${program}" sqlite migrate events.db 2>&1`], {
    cwd: example.folder,
    encoding: 'utf8',
  });
  expect(migrated).toBe('the tables in events.db are up to date, at version 1: nothing to do\n');
});
