import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { DeadLetter } from 'posthorn';
import { createRedisDeadLetters } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../stores/redis/fixture.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { directoryOf, inOrder, letter, summaryWith } from './letters.ts';
import { jsonLines, posthorn, posthornProcess } from './posthorn.ts';
import { LETTERS_BESIDE, writeModule } from './receiver-module.ts';

const HEAD = `
  ${LETTERS_BESIDE}
  const receiver = createReceiver({ signingKey: 'k', deadLetters });
  receiver.on('transfer.*', (event) => {
    console.log('handling', event.id);
    if (event.data.broken) throw new Error('still\\nbroken');
  }, { name: 'book' });
`;

const COMMONJS = `const { createReceiver } = require('posthorn');
  const { createFileDeadLetters } = require('posthorn/file');
  const deadLetters = createFileDeadLetters(require('node:path').join(__dirname, 'letters'));
  const receiver = createReceiver({ signingKey: 'k', deadLetters }).on('*', () => {});`;

/** Keeps the process open, as a pool of connections would. */
const OPEN = 'setInterval(() => {}, 1_000);';

const EXPORTED = `${HEAD} export { receiver, deadLetters };`;

function broken(id: string): DeadLetter {
  const body = { id, type: 'transfer.failed', created_at: new Date().toISOString(), data: { broken: true } };
  return letter(id, { type: 'transfer.failed', rawBody: Buffer.from(JSON.stringify(body)) });
}

describe('posthorn dead-letters replay', () => {
  test('runs the handlers, takes out what succeeds, and ends by itself', async () => {
    const { file, deadLetters } = await writeModule(EXPORTED + OPEN, [letter('evt_good'), broken('evt_bad')]);
    const ended = await posthornProcess(`dead-letters replay evt_good evt_bad --receiver ${file}`);
    expect(ended.code).toBe(1);
    expect(ended.stdout.split('\n')).toEqual([
      'handling evt_good',
      'processed transfer.succeeded evt_good',
      'handling evt_bad',
      expect.stringMatching(
        /^(failed|parked) transfer\.failed evt_bad handler_failed: .*still\\u\{a\}broken$/,
      ),
      '1 replayed, 1 failed',
      '',
    ]);
    expect(await deadLetters.get('evt_good')).toBeUndefined();
    expect(await deadLetters.get('evt_bad')).toMatchObject({ reason: 'handler_failed' });
  });

  test('waits for a busy key, then names the handler that has it, and leaves the dead letter', async () => {
    const code = `
      ${LETTERS_BESIDE}
      const receiver = createReceiver({ signingKey: 'k', deadLetters, deadlineMs: 2_000 });
      let end;
      const ended = new Promise((resolve) => { end = resolve; });
      receiver.observe(({ event }) => void (event.id === 'evt_second' && end()));
      const first = await deadLetters.get('evt_first');
      await new Promise((begin) => {
        receiver.on('*', () => { begin(); return ended; }, { name: 'book', concurrencyKey: () => 'TR_1' });
        void receiver.replay(first);
      });
      export { receiver, deadLetters };`;
    const { file, deadLetters } = await writeModule(code, [letter('evt_first'), letter('evt_second')]);
    const ended = await posthornProcess(['dead-letters', 'replay', 'evt_second', '--receiver', file]);
    expect(ended.code).toBe(1);
    const holder =
      'the handler "book" is handling another event of the same key, or this one in an earlier run';
    expect(ended.stdout.split('\n')).toEqual([
      `parked transfer.succeeded evt_second key_busy: ${holder}`,
      '0 replayed, 1 failed',
      '',
    ]);
    expect(await deadLetters.get('evt_second')).toMatchObject({ reason: 'key_busy' });
  });

  test('--all passes over what is running, and what may be a recording', async () => {
    const { file, deadLetters } = await writeModule(EXPORTED, [
      letter('evt_good'),
      letter('evt_running', { runningUntil: Date.now() + 3_600_000 }),
      letter('evt_recorded', { reason: 'event_too_old' }),
    ]);
    const ended = await posthorn(['dead-letters', 'replay', '--all', '--receiver', file, '--json']);
    expect(ended.code).toBe(0);
    expect(jsonLines(ended)).toMatchObject([
      {
        kind: 'replay',
        id: 'evt_good',
        type: 'transfer.succeeded',
        outcome: 'processed',
        handlers: [{ name: 'book', ok: true }],
      },
      { kind: 'running', id: 'evt_running', runningUntil: expect.stringMatching(/Z$/) },
      summaryWith({ replayed: 1, running: 1, old: 1 }),
    ]);
    // Under --json what handlers print does not stand between the results.
    expect(ended.stderr).toContain('handling evt_good');
    expect(await deadLetters.get('evt_recorded')).toBeDefined();
    expect(await deadLetters.get('evt_running')).toBeDefined();

    const byId = await posthorn(['dead-letters', 'replay', 'evt_recorded', '--receiver', file]);
    expect(byId).toMatchObject({ code: 0, stdout: expect.stringContaining('1 replayed') });
  });

  test('--dry-run runs nothing', async () => {
    const { file, deadLetters } = await writeModule(EXPORTED, [letter('evt_good'), broken('evt_bad')]);
    const args = ['--type', 'transfer.succeeded', '--since', '1h', '--dry-run'];
    const ended = await posthorn(['dead-letters', 'replay', '--receiver', file, ...args]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(
      /^1 would be replayed\nparked from \S+ to \S+\n {2}1 transfer\.succeeded handler_failed\n$/,
    );
    expect(await deadLetters.get('evt_good')).toBeDefined();
  });

  test('runs letters whose times no Date can hold, and the others', async () => {
    const { file, deadLetters } = await writeModule(EXPORTED, [
      letter('evt_good'),
      letter('evt_far', { receivedAt: 1e300, parkedAt: 9e15 }),
      letter('evt_long_ago', { receivedAt: -1e300, parkedAt: -9e15 }),
    ]);
    const ended = await posthorn(['dead-letters', 'replay', '--all', '--receiver', file]);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('3 replayed') });
    for (const id of ['evt_good', 'evt_far', 'evt_long_ago'])
      expect(await deadLetters.get(id)).toBeUndefined();
  });

  test('what no handler is registered for stays, and is exit code 1', async () => {
    const { file, deadLetters } = await writeModule(EXPORTED, [
      letter('evt_1', { type: 'dispute.won', rawBody: letter('evt_1', { type: 'dispute.won' }).rawBody }),
    ]);
    const ended = await posthorn(['dead-letters', 'replay', 'evt_1', '--receiver', file]);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain('no handler is registered for it');
    expect(await deadLetters.get('evt_1')).toBeDefined();
  });

  test('one damaged letter does not keep the others from their replay', async () => {
    const { file } = await writeModule(EXPORTED, [letter('evt_good')]);
    writeFileSync(join(file, '..', 'letters', `${'0'.repeat(64)}.json`), '{');
    const ended = await posthorn(['dead-letters', 'replay', '--all', '--receiver', file]);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain('1 replayed\n');
    expect(ended.stderr).toContain('(dead_letter_unreadable)');
    const ofNoType = await posthorn(['dead-letters', 'list', '--type', 'payout.*', '--receiver', file]);
    expect(ofNoType).toMatchObject({ code: 1, stderr: expect.stringContaining('(dead_letter_unreadable)') });
  });
});

describe('the module of --receiver', () => {
  test.each([
    { form: 'the receiver alone, by its name', name: 'receiver.js', code: `${HEAD} export { receiver };` },
    {
      form: 'the receiver as the default export',
      name: 'receiver.js',
      code: `${HEAD} export default receiver;`,
    },
    {
      form: 'a default export',
      name: 'receiver.mjs',
      code: `${HEAD} export default { receiver, deadLetters };`,
    },
    {
      form: 'CommonJS',
      name: 'receiver.cjs',
      code: `${COMMONJS} module.exports = { deadLetters, receiver };`,
    },
    // Members of module.exports, as compilers write them for `export default receiver`.
    ...[
      ['tsc', 'exports.default = receiver;'],
      ['SWC', 'Object.defineProperty(exports, "default", { enumerable: true, get: () => receiver });'],
      [
        'esbuild',
        'module.exports = Object.create({}, { default: { get: () => receiver, enumerable: true } });',
      ],
      ['tsc, with the receiver in an object', 'exports.default = { receiver };'],
    ].map(([compiler, code]) => ({
      form: `the default export in CommonJS of ${compiler}`,
      name: 'receiver.cjs',
      code: `${COMMONJS} Object.defineProperty(exports, '__esModule', { value: true }); ${code}`,
    })),
  ])('may be $form; its letters can be listed', async ({ name, code }) => {
    const { file } = await writeModule(code, [letter('evt_1')], name);
    const listed = await posthorn(['dead-letters', 'list', '--receiver', file, '--json']);
    expect(jsonLines(listed)).toMatchObject([{ id: 'evt_1' }, { letters: 1 }]);
    const replayed = await posthorn(['dead-letters', 'replay', 'evt_1', '--receiver', file]);
    expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining('1 replayed') });
  });

  test.each([
    { when: 'in an event after its import', listen: 'createServer().listen(PORT, "127.0.0.1");' },
    {
      when: 'while it is imported',
      listen: 'await once(createServer().listen(PORT, "127.0.0.1"), "listening");',
    },
    {
      when: 'in a promise that nobody awaits',
      listen:
        'const listening = async () => once(createServer().listen(PORT, "127.0.0.1"), "listening"); listening();',
    },
  ])('of a module that also listens says how to separate the two, $when', async ({ listen }) => {
    const { port } = new URL(await listenUntilTheEnd(createServer()));
    const imports = `import { once } from 'node:events'; import { createServer } from 'node:http';`;
    const code = `${imports} ${EXPORTED} ${listen.replace('PORT', port)}`;
    const { file, deadLetters } = await writeModule(code, [letter('evt_1')], 'server.js');
    const ended = await posthorn(['dead-letters', 'replay', '--all', '--receiver', file]);
    expect(ended).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^posthorn: ".*\.js" also starts a server, .*EADDRINUSE.* in a module that does not listen, .*\n$/,
      ),
    });
    expect(await deadLetters.get('evt_1')).toBeDefined();
  });

  test('of a module with another uncaught error shows its stack', async () => {
    const code = `${EXPORTED} setImmediate(() => { throw new TypeError('of the module'); });`;
    const { file } = await writeModule(code, [letter('evt_1')]);
    const { code: exitCode, stderr } = await posthorn(`dead-letters replay --all --receiver ${file}`);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/TypeError: of the module\n +at .*receiver\.js/);
  });

  test('may have its letters elsewhere: --dir says where', async () => {
    const code = EXPORTED.replace(`signingKey: 'k', deadLetters`, `signingKey: 'k'`);
    const { file, deadLetters } = await writeModule(code, [letter('evt_1'), letter('evt_2')]);
    const place = ['--receiver', file, '--dir', join(file, '..', 'letters')];
    const replayed = await posthorn(['dead-letters', 'replay', 'evt_1', ...place]);
    expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining('1 replayed') });
    expect(await deadLetters.get('evt_1')).toBeUndefined();
    const dropped = await posthorn(['dead-letters', 'drop', 'evt_2', ...place]);
    expect(dropped).toMatchObject({ code: 0, stdout: expect.stringContaining('1 dropped') });
    expect(await deadLetters.get('evt_2')).toBeUndefined();

    const nowhere = await posthorn(['dead-letters', 'list', '--receiver', file]);
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('--dir or --scope') });
  });

  test('may be unconnected at the first call of its letters and its store', async () => {
    const code = `
      ${HEAD}
      const early = (code) => Object.assign(new Error('not connected'), { code });
      const secondly = (work, first) => {
        let calls = 0;
        return (...args) => ((calls += 1) === 1 ? first() : work(...args));
      };
      const refuse = (code) => async () => { throw early(code); };
      deadLetters.get = secondly(deadLetters.get, refuse('dead_letters_unavailable'));
      const failed = { outcome: 'failed', error: early('store_unavailable'), handlers: [], warnings: [] };
      const replay = async (letter) => ({ ...(await receiver.replay(letter)), warnings: ['late: a warning'] });
      const connecting = {
        deadLetters,
        replay: secondly(replay, async () => failed),
        drop: secondly((letter) => receiver.drop(letter), refuse('store_unavailable')),
        close: async () => console.log('closed'),
      };
      export { connecting as receiver };`;
    const { file } = await writeModule(code, [letter('evt_1'), letter('evt_2')]);
    const run = (...args: string[]) => posthorn(['dead-letters', ...args, '--receiver', file]);
    const good = 'handling evt_1\nprocessed transfer.succeeded evt_1 late: a warning\n1 replayed\nclosed\n';
    expect(await run('replay', 'evt_1')).toEqual({ code: 0, stdout: good, stderr: '' });
    expect(await run('drop', 'evt_2')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n1 dropped\n/),
    });
  });

  test('may have letters of its own: --dir leads to others, whose ids a drop does not complete', async () => {
    const { file, deadLetters } = await writeModule(EXPORTED, [letter('evt_own')]);
    const directory = await directoryOf(['evt_1', 'evt_2'].map((id) => letter(id)));
    const place = ['--receiver', file, '--dir', directory, '--json'];
    const replayed = jsonLines(await posthorn(['dead-letters', 'replay', '--all', '--limit', '1', ...place]));
    expect(replayed).toMatchObject([{ id: expect.stringMatching(/^evt_[12]$/) }, { replayed: 1 }]);
    const dropped = jsonLines(await posthorn(['dead-letters', 'drop', '--all', '--yes', ...place]));
    expect(dropped).toMatchObject([{ completed: false }, { dropped: 1 }]);
    expect(await deadLetters.get('evt_own')).toBeDefined();
  });

  test('has replayed a letter once it is removed: a failed removal ends the command', async () => {
    const { file } = await writeModule(
      `${EXPORTED}
      const { remove } = deadLetters;
      deadLetters.remove = async (id) => {
        if (!(await remove(id))) throw new Error('the disk is away'); // the receiver has removed it before
        return true;
      };`,
      [letter('evt_1'), letter('evt_2')],
    );
    const ended = await posthorn(['dead-letters', 'replay', 'evt_1', 'evt_2', '--receiver', file]);
    expect(ended).toMatchObject({ code: 1, stderr: 'posthorn: the disk is away\n' });
    expect(ended.stdout).toMatch(/^handling evt_1\n0 replayed, 2 left\nthe rest: .* evt_1 evt_2 /);
  });

  test('drops no letter of an event that is being handled, and ends by itself', async () => {
    const code = `${LETTERS_BESIDE}
      import { createMemoryStore } from 'posthorn';
      const store = createMemoryStore();
      store.claim({ id: 'evt_1', token: 'another', leaseMs: 60_000, retentionMs: 1e9 });
      export const receiver = createReceiver({ signingKey: 'k', deadLetters, store }).on('*', () => {});`;
    const { file, deadLetters } = await writeModule(code + OPEN, inOrder(['evt_2', 'evt_1', 'evt_3']));
    const drop = ['dead-letters', 'drop', '--all', '--yes', '--limit', '2', '--receiver', file];
    expect(await posthornProcess(drop)).toEqual({
      code: 1,
      stdout:
        'dropped transfer.succeeded evt_2\n' +
        '1 dropped, 1 not dropped: handled meanwhile, being handled, or gone, and more beyond --limit\n' +
        `the rest: posthorn dead-letters drop --all --limit 2 --after evt_1 --receiver ${file} --yes\n`,
      stderr: '',
    });
    expect(await deadLetters.get('evt_1')).toBeDefined();
    expect(await deadLetters.get('evt_2')).toBeUndefined();
  });

  test.each([
    {
      what: 'exports something else',
      code: 'export const receiver = {};',
      message: /must export the result of createReceiver\(\)/,
    },
    {
      what: 'throws',
      code: 'throw new Error("no\\ndatabase");',
      message: /cannot be loaded: no\\u\{a\}database \(file_unreadable\)\n$/,
    },
    {
      what: 'is TypeScript',
      code: 'export {};',
      name: 'receiver.ts',
      message: /TypeScript|must export what/,
    },
  ])('that $what is exit code 2', async ({ code, name, message }) => {
    const { file } = await writeModule(code, [], name);
    const ended = await posthorn(['dead-letters', 'replay', '--all', '--receiver', file]);
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
  });

  test('that is not there is exit code 2, and so is none', async () => {
    const absent = await posthorn(['dead-letters', 'replay', '--all', '--receiver', './absent.js']);
    expect(absent).toMatchObject({ code: 2, stderr: expect.stringContaining('must name a file') });
    const none = await posthorn(['dead-letters', 'replay', '--all']);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('--receiver <module>') });
  });
});

describe('posthorn dead-letters drop with --receiver', () => {
  const fixture = useRedis();

  test('completes the id in the store, so that the event is not handled when it comes again', async () => {
    const { file, deadLetters } = await writeModule(
      `${HEAD}
      import { Redis } from 'ioredis';
      import { createRedisStore } from 'posthorn/redis';
      const redis = new Redis(process.env.REDIS_URL);
      const store = createRedisStore(redis, { scope: 'billing-test' });
      const shared = createReceiver({ signingKey: 'k', deadLetters, store }).on('*', () => {});
      export { shared as receiver, deadLetters };`,
      [letter('evt_1'), letter('evt_2')],
    );
    const env = { REDIS_URL: `redis://127.0.0.1:${fixture.redis.port}` };
    const ended = await posthorn(['dead-letters', 'drop', 'evt_1', '--receiver', file, '--json'], { env });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(ended)).toMatchObject([{ kind: 'drop', id: 'evt_1', completed: true }, { dropped: 1 }]);
    expect(await deadLetters.get('evt_1')).toBeUndefined();

    await deadLetters.put(letter('evt_1'));
    const again = await posthorn(['dead-letters', 'replay', '--all', '--receiver', file, '--json'], { env });
    expect(again.code).toBe(0);
    expect(Object.fromEntries(jsonLines(again).map(({ id, outcome }) => [id, outcome]))).toMatchObject({
      evt_1: 'duplicate',
      evt_2: 'processed',
    });
  });

  test('waits for letters in a Redis that the module has only begun to connect to', async () => {
    const { file } = await writeModule(
      `import { Redis } from 'ioredis';
      import { createReceiver } from 'posthorn';
      import { createRedisDeadLetters } from 'posthorn/redis';
      const redis = new Redis(process.env.REDIS_URL).on('error', () => {});
      const deadLetters = createRedisDeadLetters(redis, { scope: 'billing-test' });
      export { deadLetters };
      export const receiver = createReceiver({ signingKey: 'k', deadLetters }).on('*', () => {});`,
    );
    const { Redis } = await import('ioredis');
    const redis = fixture.keep(new Redis(fixture.redis.port));
    await redis.ping();
    await createRedisDeadLetters(redis, { scope: 'billing-test' }).put(letter('evt_3'));
    const env = { REDIS_URL: `redis://127.0.0.1:${fixture.redis.port}` };
    const ended = await posthorn(['dead-letters', 'replay', '--all', '--receiver', file, '--json'], { env });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(ended)).toMatchObject([{ id: 'evt_3', outcome: 'processed' }, { replayed: 1 }]);

    const nowhere = { REDIS_URL: 'redis://127.0.0.1:1' };
    const failed = await posthorn(['dead-letters', 'list', '--receiver', file], { env: nowhere });
    expect(failed).toMatchObject({ code: 3, stderr: expect.stringContaining('(dead_letters_unavailable)') });
  });
});
