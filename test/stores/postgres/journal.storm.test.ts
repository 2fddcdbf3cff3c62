import { join } from 'node:path';
import type { JournalEntry, WebhookEvent } from 'posthorn';
import { createPostgresJournal, createPostgresStore, migratePostgres } from 'posthorn/postgres';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ChildProgram, packageRoot, startProgram } from '../../support/child-program.ts';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { type Endpoint, openEndpoint } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { until } from '../../support/until.ts';
import { TcpProxy } from '../redis/tcp-proxy.ts';
import { usePostgres } from './fixture.ts';

const scope = 'journal-storm';
/** Thirds of each tenth of them are sent once, twice and three times. */
const EVENTS = 1_020;
/** The deliveries that are under way together. */
const TOGETHER = 10;
const OUTAGE_MS = 20_000;

const eventsOf = (count: number): WebhookEvent[] =>
  Array.from({ length: count }, () => createEvent('transfer.succeeded'));

/** Calls a function with each of the events, some at a time. */
async function forEach(
  events: readonly WebhookEvent[],
  use: (event: WebhookEvent, index: number) => Promise<void>,
) {
  const left = [...events.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await use(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
}

/** Sends each event to one, two or three of the receivers at once. All must be accepted. */
async function sendAll(endpoints: readonly Endpoint[], events: readonly WebhookEvent[]): Promise<void> {
  await forEach(events, async (event, index) => {
    const chosen = endpoints.slice(0, 1 + (index % endpoints.length));
    const answers = await Promise.all(chosen.map(({ send }) => send(event)));
    expect(answers.map(({ status }) => status)).toEqual(chosen.map(() => 200));
  });
}

/** The longest and the middle one of the times in which deliveries were answered since the last call. */
function timesOf(endpoints: readonly Endpoint[], since: number): string {
  const times = endpoints
    .flatMap(({ reports }) => reports.all)
    .filter(({ receivedAt }) => receivedAt >= since)
    .map(({ durationMs }) => durationMs)
    .sort((one, other) => one - other);
  return `${times.length} deliveries, half in ${times[times.length >> 1]} ms, all in ${times.at(-1)} ms`;
}

describe('the journal on a PostgreSQL of its own', () => {
  const fixture = usePostgres();

  /** Three receivers that share a store, and a journal on another server behind a proxy. */
  async function open() {
    const server = await fixture.servers.single();
    await migratePostgres(fixture.connect({ port: server.port }));
    const proxy = await TcpProxy.start(server.port);
    const endpoints = await Promise.all(
      [1, 2, 3].map(() =>
        openEndpoint({
          ...ampleDeadlines,
          store: createPostgresStore(fixture.connect(), { scope, ...ampleTime }),
          journal: createPostgresJournal(fixture.connect({ port: proxy.port }), {
            scope,
            commandTimeoutMs: 1_000,
          }),
        }),
      ),
    );
    const journal = createPostgresJournal(fixture.connect({ port: server.port }), { scope, ...ampleTime });
    const expectEntries = async (events: readonly WebhookEvent[]): Promise<void> => {
      const waiting = async () =>
        (await Promise.all(endpoints.map(({ receiver }) => receiver.health()))).map(
          (health) => health.journal?.waiting,
        );
      await until('all is written', async () => (await waiting()).every((count) => count === 0));
      const entries = new Map<string, JournalEntry>();
      for await (const entry of journal.list()) entries.set(entry.id, entry);
      const found = events
        .map(({ id }) => entries.get(id))
        .map((entry) => [entry?.outcome, entry?.deliveries]);
      expect(found).toEqual(events.map((_, index) => ['processed', 1 + (index % endpoints.length)]));
      for (const { receiver } of endpoints)
        expect((await receiver.health()).journal).toMatchObject({
          ok: true,
          leftOut: { bodies: 0, entries: 0 },
        });
    };
    return { server, proxy, endpoints, expectEntries };
  }

  test.each([
    { outage: 'stands still', begin: 'freeze' as const },
    { outage: 'was killed', begin: 'stop' as const },
  ])(
    'that $outage for 20 s: all deliveries are accepted meanwhile, and it has each event afterwards',
    async ({ begin }) => {
      const { server, endpoints, expectEntries } = await open();
      const [before, during] = [eventsOf(EVENTS / 10), eventsOf(EVENTS)];
      const startedAt = Date.now();
      await sendAll(endpoints, before);
      await expectEntries(before);
      const beganAt = Date.now();
      const measured = timesOf(endpoints, startedAt);
      if (begin === 'freeze') server.freeze();
      else await server.stop('kill');
      // Each is answered before the server is back, so none has waited for it.
      await sendAll(endpoints, during);
      process.stdout.write(`journal away: ${timesOf(endpoints, beganAt)}; before: ${measured}\n`);
      await until('the outage was long enough', () => Date.now() - beganAt > OUTAGE_MS);
      expect((await endpoints[0]?.receiver.health())?.journal).toMatchObject({ ok: false });
      if (begin === 'freeze') server.thaw();
      else await server.restart();
      await expectEntries([...during]);
    },
  );

  test('counts exactly while its answers are lost again and again', async () => {
    const { proxy, endpoints, expectEntries } = await open();
    const events = eventsOf(EVENTS);
    for (let start = 0; start < EVENTS; start += EVENTS / 10) {
      proxy.treatReplies(start % (EVENTS / 5) === 0 ? 'cut' : 'swallow');
      await sendAll(endpoints, events.slice(start, start + EVENTS / 10));
      const hasFailed = async () => (await endpoints[2]?.receiver.health())?.journal?.ok === false;
      await until('an answer is lost', hasFailed);
      proxy.treatReplies('pass');
      await until('it answers again', async () => !(await hasFailed()));
    }
    await expectEntries(events);
  });
});

describe('receivers that are killed', () => {
  const fixture = usePostgres();

  /** Starts a receiver in a process of its own. */
  async function start(): Promise<{ readonly program: ChildProgram; readonly url: string }> {
    const env = { PATH: process.env.PATH, KEY, SCOPE: scope, POSTGRES_URL: fixture.url() };
    const program = startProgram(
      join(packageRoot, 'test/stores/postgres/journal-worker.mjs'),
      env,
      packageRoot,
    );
    onTestFinished(() => program.kill('SIGKILL'));
    const [, port] = (await program.line(/^listening /)).split(' ');
    return { program, url: `http://127.0.0.1:${port}/` };
  }

  test('lose nothing that was written', async () => {
    const journal = createPostgresJournal(fixture.connect(), { scope, ...ampleTime });
    let missing = 0;
    for (let round = 0; round < 10; round += 1) {
      const { program, url } = await start();
      const send = async (event: WebhookEvent): Promise<void> => {
        const answer = await deliver(url, event, { key: KEY });
        expect([answer.status, await answer.json()]).toEqual([200, { outcome: 'processed', id: event.id }]);
      };
      const [written, last] = [eventsOf(EVENTS / 10), eventsOf(20)];
      await forEach(written, send);
      const isWritten = async ({ id }: WebhookEvent) => (await journal.get(id)) !== undefined;
      await until('they are in the journal', async () => {
        return (await Promise.all(written.map(isWritten))).every((found) => found);
      });
      await forEach(last, send);
      program.kill('SIGKILL');
      await program.exit;
      for (const { id } of written)
        expect(await journal.get(id)).toMatchObject({ outcome: 'processed', deliveries: 1, attempts: 1 });
      for (const { id } of last) {
        const entry = await journal.get(id);
        if (entry === undefined) missing += 1;
        else expect(entry).toMatchObject({ outcome: 'processed', deliveries: 1 });
      }
    }
    process.stdout.write(`killed 10 times: ${missing} of ${EVENTS + 200} events have no entry\n`);
  });
});
