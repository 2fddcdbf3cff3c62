import { describe, expect, test } from 'vitest';
import { letter } from './letters.ts';
import { posthornProcess } from './posthorn.ts';
import { LETTERS_BESIDE, writeModule } from './receiver-module.ts';

/** A receiver whose handlers and store run code of the test, and its top level too. */
const moduleOf = ({ handler = '', complete = '', after = '' }) => `
  ${LETTERS_BESIDE}
  import { createMemoryStore } from 'posthorn';
  const memory = createMemoryStore();
  const store = { ...memory, complete: async (request) => { ${complete}; return memory.complete(request); } };
  export const receiver = createReceiver({ signingKey: 'k', deadLetters, store });
  receiver.on('*', async ({ id }) => { ${handler} });
  ${after}`;

const replay = ['dead-letters', 'replay', '--all', '--json'];
const ids = ['ids', 'import', '-'];
const never = 'await new Promise(() => {})';

async function run(args: readonly string[], parts: Parameters<typeof moduleOf>[0]) {
  const { file } = await writeModule(moduleOf(parts), [letter('evt_1'), letter('evt_2')]);
  return posthornProcess([...args, '--receiver', file], { input: 'evt_3\t1700000000000\n' });
}

describe('a command whose receiver ends the process', () => {
  test.each([
    { how: 'at once', args: replay, parts: { after: 'process.exit(0);' } },
    { how: 'at once', args: ids, parts: { after: 'process.exit(0);' } },
    { how: 'at once, with the code of another end', args: ids, parts: { after: 'process.exit(3);' } },
    { how: 'in a handler', args: replay, parts: { handler: 'if (id === "evt_2") process.exit(0);' } },
    { how: 'in a handler, without a code', args: replay, parts: { handler: 'process.exit();' } },
    { how: 'in its store', args: ids, parts: { complete: 'process.exit(0);' } },
    {
      how: 'by an error',
      args: replay,
      parts: { handler: 'setTimeout(() => { throw 1; }); await new Promise(() => {})' },
    },
    { how: 'in the end', args: replay, parts: { after: 'receiver.close = () => process.exit(0);' } },
  ])('$how, fails and says so: $args', async ({ args, parts }) => {
    const { code, stderr } = await run(args, parts);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /posthorn: the command did not come to its end: the module .*\(failed\)\n/,
      ),
    });
  });

  test.each([
    {
      where: 'in its dead letters',
      args: replay,
      parts: { after: `deadLetters.get = () => new Promise(() => {});` },
    },
    { where: 'in its end', args: replay, parts: { after: `receiver.close = async () => { ${never}; };` } },
  ])('by waiting for nothing $where, fails and says so', async ({ args, parts }) => {
    const { code, stderr } = await run(args, parts);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'posthorn: the command did not come to its end: it waits for something that never comes, such as a promise of the receiver (failed)\n',
    });
  });

  test.each([
    {
      set: 'process.on("exit", () => { process.exitCode = 0; });',
      handler: 'throw new Error("no")',
      code: 1,
    },
    { set: 'process.exitCode = 7;', handler: '', code: 0 },
  ])('has the exit code of its own end, after $set', async ({ set, handler, code }) => {
    const ended = await run(replay, { after: set, handler: `${set} ${handler}` });
    expect(ended.code, ended.stderr).toBe(code);
  });
});
