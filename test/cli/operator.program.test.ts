import { userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { refusal } from './ended.ts';
import { inOrder } from './letters.ts';
import { startOperator } from './operating.ts';
import { act, ask, signIn } from './operator-requests.ts';
import { posthorn, startPosthorn } from './posthorn.ts';
import { LETTERS_BESIDE, writeModule } from './receiver-module.ts';

describe('posthorn operator', () => {
  test('serves the printed address to one browser, and replays for it', async () => {
    const { address, ids, program } = await startOperator(inOrder(['evt_1', 'evt_2']));
    const cookie = await signIn(address);
    expect(await ask(address)).toMatchObject({ status: 403 });
    const replayed = await act(address, 'replay', cookie, { ids: ['evt_1'] });
    expect(JSON.parse(replayed.body)).toMatchObject({ results: [{ id: 'evt_1', outcome: 'processed' }] });
    expect(await ids()).toEqual(['evt_2']);
    await program.line(new RegExp(`^posthorn: operator=${userInfo().username} replay `));
    program.kill('SIGTERM');
    expect(await program.exit).toBe(0);
  });

  test('prints its address as JSON', async () => {
    const { file } = await writeModule(`${LETTERS_BESIDE}
      export const receiver = createReceiver({ signingKey: 'k', deadLetters }).on('*', () => {});`);
    const program = startPosthorn(['operator', '--receiver', file, '--port', '0', '--json']);
    const { kind, page, url } = JSON.parse(await program.line(/^\{/));
    expect({ kind, url, page }).toEqual({
      kind: 'listening',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
      page: expect.stringMatching(/\/\?token=[\w-]{43}$/),
    });
    expect(page.startsWith(url)).toBe(true);
    expect(await signIn(page)).not.toBe('');
  });

  test('works twice at once in one browser', async () => {
    const [first, second] = await Promise.all([startOperator([]), startOperator([])]);
    const cookie = `${await signIn(first.address)}; ${await signIn(second.address)}`;
    for (const { address } of [first, second]) {
      const answer = await ask(new URL('/api/receivers', address).href, { headers: { cookie } });
      expect(answer.status).toBe(200);
    }
  });

  test('is not reached over the network', async () => {
    const { address } = await startOperator([]);
    const elsewhere = address.replace('127.0.0.1', '127.0.0.2');
    await expect(ask(elsewhere)).rejects.toThrow('ECONNREFUSED');
  });
});

describe('a signal to posthorn operator', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s lets the current event finish', async (signal) => {
    const { address, ids, isHeld, program, release } = await startOperator(inOrder(['evt_held', 'evt_2']));
    const answered = act(address, 'replay', await signIn(address), { selection: {} });
    await isHeld();
    program.kill(signal);
    await program.line(/^posthorn: the current event is finished first\. Another signal ends at once$/);
    await expect(ask(address)).rejects.toThrow('ECONNREFUSED');
    release();
    expect(JSON.parse((await answered).body)).toMatchObject({
      results: [{ id: 'evt_held', outcome: 'processed' }],
      stopped: { id: 'evt_2' },
    });
    expect(await program.exit).toBe(0);
    expect(await ids()).toEqual(['evt_2']);
  });

  test('that comes a second time ends it at once, and the dead letter stays', async () => {
    const { address, ids, isHeld, program } = await startOperator(inOrder(['evt_held']));
    const answered = act(address, 'replay', await signIn(address), { selection: {} });
    const cut = expect(answered).rejects.toThrow();
    await isHeld();
    program.kill('SIGTERM');
    await program.line(/^posthorn: the current event is finished first/);
    program.kill('SIGTERM');
    expect(await program.exit).toBe(null);
    await cut;
    expect(await ids()).toEqual(['evt_held']);
  });
});

describe('posthorn operator refuses, with exit code 2,', () => {
  const refuse = async (code: string) => {
    const { file } = await writeModule(code);
    return posthorn(['operator', '--receiver', file, '--port', '0']);
  };

  test('a port that is taken', async () => {
    const { address } = await startOperator([]);
    const { port } = new URL(address);
    const { file } = await writeModule(`${LETTERS_BESIDE}
      export const receiver = createReceiver({ signingKey: 'k', deadLetters }).on('*', () => {});`);
    const taken = `posthorn: cannot listen on 127.0.0.1:${port}: `;
    expect(await posthorn(['operator', '--receiver', file, '--port', port])).toEqual(
      refusal(2, expect.stringMatching(new RegExp(`${taken}.*EADDRINUSE.* 0 takes a free one`))),
    );
  });

  test.each([
    { args: [], message: "required option '--receiver <module>' not specified" },
    { args: ['--receiver', './none.js'], message: '--receiver must name a file, and "./none.js" is not one' },
    { args: ['--receiver', 'package.json', '--host', '0.0.0.0'], message: "unknown option '--host'" },
    { args: ['--receiver', 'package.json', '--port', '70000'], message: "argument '70000' is invalid" },
  ])('$args', async ({ args, message }) => {
    expect(await posthorn(['operator', ...args])).toEqual(refusal(2, expect.stringContaining(message)));
  });

  test.each([
    { name: 'without a receiver', code: 'export const other = 1;', message: 'must export the result of' },
    {
      name: 'whose receiver has no handlers',
      code: `${LETTERS_BESIDE} export const receiver = createReceiver({ signingKey: 'k', deadLetters });`,
      message: 'the receiver has no handlers',
    },
    {
      name: 'with a receiver of an earlier version',
      code: 'const no = () => {}; export const receiver = { replay: no, drop: no, close: no };',
      message: 'the receiver is of an earlier version of posthorn, which cannot serve operators',
    },
  ])('a module $name', async ({ code, message }) => {
    expect(await refuse(code)).toEqual(refusal(2, expect.stringContaining(message)));
  });
});

describe('a store of ids', () => {
  const WARNING = /^posthorn: the receiver keeps its ids in the memory of its process/;

  test('in the memory of the process is warned of', async () => {
    const { program } = await startOperator([]);
    await program.line(WARNING);
  });

  test('that processes share is not', async () => {
    const { file } = await writeModule(`${LETTERS_BESIDE}
      import { createMemoryStore } from 'posthorn';
      const memory = createMemoryStore();
      const names = ['claim', 'renew', 'complete', 'release'];
      const store = Object.fromEntries(names.map((name) => [name, (request) => memory[name](request)]));
      export const receiver = createReceiver({ signingKey: 'k', deadLetters, store }).on('*', () => {});`);
    const program = startPosthorn(['operator', '--receiver', file, '--port', '0']);
    await program.line(/\?token=/);
    program.kill('SIGTERM');
    expect(await program.exit).toBe(0);
    expect(program.lines.filter((line) => WARNING.test(line))).toEqual([]);
  });
});
