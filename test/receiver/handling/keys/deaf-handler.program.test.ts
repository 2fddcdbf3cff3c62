import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../support/child-program.ts';

test('a process with a handler that does not heed its signal ends after close(), although the handler has a key', () => {
  const program = `
    import { createReceiver } from 'posthorn';
    import { createEvent, deliver } from 'posthorn/testing';
    const receiver = createReceiver({ signingKey: 'k' }).observe(() => {});
    let begin;
    const hasBegun = new Promise((resolve) => (begin = resolve));
    const handle = () => { begin(); return new Promise(() => {}); };
    receiver.on('*', handle, { name: 'book', concurrencyKey: () => 'a' });
    const send = () => deliver(receiver, createEvent('transfer.created'), { key: 'k' });
    const answers = [send(), send()];
    await hasBegun;
    const { abandoned } = await receiver.close({ graceMs: 0 });
    console.log(abandoned.length, ...(await Promise.all(answers)).map(({ status }) => status));`;
  const args = ['--input-type=module', '-e', program];
  // The key would be renewed for another minute, which is `maxRunMs`.
  const options = { cwd: packageRoot, encoding: 'utf8', timeout: 30_000 } as const;
  expect(execFileSync(process.execPath, args, options).trim()).toBe('1 503 503');
});
