import { createFileDeadLetters } from 'posthorn/file';
import { describe, expect, test } from 'vitest';
import { readAll } from '../support/read-all.ts';
import { directoryOf, inOrder, letter } from './letters.ts';
import { jsonLines, onTerminal, posthorn } from './posthorn.ts';
import { LETTERS_BESIDE, writeModule } from './receiver-module.ts';

const keyOf = (provider: string, id: string): string => `handled:from:${provider.length}:${provider}:-:${id}`;

/** A letter of a sender of two whose ids are the same. */
function otherLetter(id: string, provider = 'acme', parkedAt = Date.now()) {
  const rawBody = Buffer.from(JSON.stringify({ event_id: id, type: 'push' }));
  return letter(keyOf(provider, id), { eventId: id, provider, type: 'push', rawBody, parkedAt });
}

const usage = (message: unknown) => ({ code: 2, stderr: expect.stringMatching(RegExp(String(message))) });

describe('the commands on letters of several senders', () => {
  const fill = () =>
    directoryOf([
      ...inOrder(['evt_1', 'evt_2']),
      otherLetter('evt_2', 'acme', Date.now() - 3_000),
      otherLetter('evt_3', 'acme', Date.now() - 2_000),
      otherLetter('evt_3', 'vendor', Date.now() - 1_000),
    ]);

  test('list and show name the provider and the id of its sender', async () => {
    const directory = await fill();
    const listed = await posthorn(['dead-letters', 'list', '--dir', directory]);
    const key = keyOf('acme', 'evt_2');
    expect(listed.stdout).toContain(` push ${key} (acme evt_2) after 4 attempts, handler_failed: `);
    expect(listed.stdout).toContain(' transfer.succeeded evt_2 after 4 attempts, ');
    const lines = jsonLines(await posthorn(['dead-letters', 'list', '--dir', directory, '--json']));
    expect(lines.map(({ id, eventId, provider }) => [id, eventId, provider]).slice(0, 3)).toEqual([
      ['evt_1', undefined, undefined],
      ['evt_2', undefined, undefined],
      [key, 'evt_2', 'acme'],
    ]);
    const shown = await posthorn(['dead-letters', 'show', key, '--dir', directory]);
    expect(shown.stdout.split('\n').slice(0, 4)).toEqual([
      `id ${key}`,
      'eventId evt_2',
      'provider acme',
      'type push',
    ]);
    const onWide = onTerminal(`dead-letters list --dir ${directory}`, '', 'stty cols 200; NO_COLOR=1 ');
    expect(onWide.stdout).toMatch(/PARKED +TYPE +ID +SENDER +ATTEMPTS {2}REASON\r\n/);
    expect(onWide.stdout).toMatch(/ evt_1 {2,}4 {2}handler_failed/);
    expect(onWide.stdout).toContain(`${key}    acme evt_2 `);
    const onNarrow = onTerminal(`dead-letters list --dir ${directory}`, '', 'stty cols 60; NO_COLOR=1 ');
    expect(onNarrow.stdout).toContain(`${key}\r\n  push of acme evt_2, attempts: 4, `);
  });

  test('take the id of a letter first, then that of the sender, unless several letters have it', async () => {
    const directory = await fill();
    const run = (command: string) => posthorn(`dead-letters ${command} --dir ${directory}`);
    expect((await run('show evt_2')).stdout).toContain('id evt_2\ntype transfer.succeeded');
    const several = `"evt_3" is the sender's id of 2 dead letters: give the id of one, "${keyOf('acme', 'evt_3')}", "${keyOf('vendor', 'evt_3')}"`;
    for (const command of ['show evt_3', 'drop evt_1 evt_3', 'list --after evt_3'])
      expect(await run(command)).toMatchObject({ code: 2, stderr: expect.stringContaining(several) });
    const deadLetters = createFileDeadLetters(directory);
    await deadLetters.remove('evt_2');
    const key = keyOf('acme', 'evt_2');
    expect((await run('show evt_2')).stdout).toContain(`id ${key}\n`);
    expect(jsonLines(await run('list --after evt_2 --json')).map(({ id }) => id)).toEqual([
      keyOf('acme', 'evt_3'),
      keyOf('vendor', 'evt_3'),
      undefined,
    ]);
    const dropped = await run(`drop evt_2 ${key} evt_none --json`);
    expect(dropped.code).toBe(1);
    expect(jsonLines(dropped)).toMatchObject([
      { kind: 'drop', id: key, eventId: 'evt_2', provider: 'acme', type: 'push' },
      { kind: 'summary', dropped: 1, missing: 1 },
    ]);
    expect((await readAll(deadLetters.list())).map(({ id }) => id)).not.toContain(key);
  });

  test('take types that the service does not have', async () => {
    const directory = await fill();
    const list = (where: string, type: string) => posthorn(`dead-letters list --dir ${where} --type ${type}`);
    expect((await list(directory, 'push')).stdout).toContain('3 parked');
    expect(await list(directory, 'pull')).toMatchObject({ code: 0, stdout: '0 parked\n' });
    const ofService = await directoryOf(inOrder(['evt_1']));
    expect(await list(ofService, 'pull')).toMatchObject(
      usage('It must be a type such as transfer.succeeded'),
    );
    expect(await list(ofService, 'payout.paid')).toMatchObject(usage('the service does not list it'));
  });

  test('replay and drop by the receiver of the provider, and refuse those of another', async () => {
    const { file, deadLetters } = await writeModule(
      `${LETTERS_BESIDE}
      import { defineProvider, hmacSignature } from 'posthorn';
      const provider = defineProvider({
        name: 'acme',
        signature: hmacSignature({ encoding: 'hex', read: () => ({ signatures: [] }) }),
        readEvent: ({ rawBody }) => {
          const event = JSON.parse(Buffer.from(rawBody).toString());
          return { id: event.event_id, type: event.type, event };
        },
        answerWithinMs: 10_000,
        retries: [60_000],
      });
      export const receiver = createReceiver({ provider, signingKey: 'k', deadLetters });
      receiver.on('push', () => {}, { name: 'push' });`,
      [otherLetter('evt_1'), otherLetter('evt_2'), letter('evt_3'), otherLetter('evt_4', 'vendor')],
    );
    const run = (command: string) => posthorn(`dead-letters ${command} --receiver ${file}`);
    const key = keyOf('acme', 'evt_1');
    expect(await run('replay evt_1')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`processed push ${key} (acme evt_1)`),
    });
    expect((await run('drop evt_2')).stdout).toContain(`dropped push ${keyOf('acme', 'evt_2')} (acme evt_2)`);
    for (const id of ['evt_3', 'evt_4']) {
      const replayed = await run(`replay ${id} --json`);
      expect(replayed.code).toBe(1);
      expect(jsonLines(replayed)[0]).toMatchObject({ outcome: 'failed', code: 'provider_mismatch' });
      const dropped = await run(`drop ${id}`);
      expect(dropped).toMatchObject({ code: 1, stderr: expect.stringContaining('(provider_mismatch') });
    }
    await deadLetters.put(otherLetter('evt_5'));
    const all = await run('drop --all --yes');
    expect(all).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 dropped, 2 of other providers than the receiver'),
    });
    expect(all.stdout).toContain('(acme evt_5)');
    expect(await readAll(deadLetters.list())).toHaveLength(2);
    for (const id of ['evt_3', keyOf('vendor', 'evt_4')]) await deadLetters.remove(id);
    // Without a letter of another sender, the receiver knows the types.
    expect(await run('list --type push')).toMatchObject({ code: 0 });
  });
});
