import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sign } from '@octokit/webhooks-methods';
import { createFileDeadLetters } from 'posthorn/file';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { letter } from '../cli/letters.ts';
import { packageRoot } from '../support/child-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { Examples, shell } from './examples.ts';

const examples = new Examples();

describe('the programs of examples/', () => {
  for (const name of ['express', 'node-http', 'operator', 'cluster', 'postgres'])
    examples.testPrintedCommand(name, 'none');
  // All take them from examples/environment.ts: test/examples/examples.storm.test.ts.
  for (const kind of ['BASIC', 'BEARER'] as const) examples.testPrintedCommand('express', kind);
  examples.testSigningKey('express');
  for (const name of ['express', 'node-http', 'cluster', 'postgres', 'queue', 'queue-postgres'])
    examples.testReceiverModule(name);
});

describe('examples/cluster', () => {
  test('its workers share what they have handled, also after one was killed', async () => {
    await examples.run('cluster', { WORKERS: '3' }, async (program, command) => {
      expect(shell(command)).toMatchObject({ outcome: 'processed' });
      const pid = (await program.line(/^worker \d+$/)).replace('worker ', '');
      process.kill(Number(pid), 'SIGKILL');
      // Node.js loses a connection that was on its way to a worker that died; like the service, the sender
      // tries again.
      const patient = command.replace(
        'curl ',
        'curl --max-time 5 --retry 10 --retry-all-errors --retry-delay 1 ',
      );
      for (let count = 0; count < 6; count += 1) {
        expect(shell(patient)).toMatchObject({ outcome: 'duplicate' });
      }
    });
  });

  test('its workers book one event of a transfer at a time', async () => {
    await examples.run('cluster', { SIGNING_KEY: 'key', WORKERS: '3' }, async (program) => {
      const [, url = ''] = (await program.line(/^listening on /)).split('listening on ');
      const events = Array.from({ length: 9 }, () => createEvent('transfer.created', { id: 'TR_1' }));
      const answers = await Promise.all(events.map((event) => deliver(url, event, { key: 'key' })));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const isEnd = (line: string): boolean => /^TR_1: .* ends$/.test(line);
      await expect.poll(() => program.lines.filter(isEnd).length).toBe(events.length);
      const workers = new Set(program.lines.filter((line) => line.startsWith('worker ')));
      expect(workers.size).toBeGreaterThan(1);
      const steps = program.lines.filter((line) => line.startsWith('TR_1: '));
      const begun = steps.filter((line) => line.endsWith(' begins'));
      expect(begun).toHaveLength(events.length);
      expect(steps).toEqual(begun.flatMap((line) => [line, line.replace('begins', 'ends')]));
    });
  });
});

describe.each(['queue', 'queue-postgres'])('examples/%s', (name) => {
  test('its receiver acknowledges, its worker handles, and both end on a signal', async () => {
    await examples.run(name, { SIGNING_KEY: 'key' }, async (receiver, command) => {
      expect(shell(command)).toMatchObject({ outcome: 'queued' });
      expect(shell(command)).toMatchObject({ outcome: 'duplicate' });
      const worker = examples.start(`${name}/worker`, { SIGNING_KEY: 'key' });
      await worker.line(/ transfer\.succeeded evt_\S+ \{"id":"TR_sample"/);
      worker.kill('SIGTERM');
      expect(await worker.exit, worker.lines.join('\n')).toBe(0);
      expect(receiver.lines.filter((line) => / transfer\.succeeded evt_/.test(line))).toEqual([]);
    });
  });
});

describe('examples/postgres', () => {
  test('its ledger has an event once, also where the store has forgotten it', async () => {
    await examples.run('postgres', {}, async (_program, command) => {
      const { id } = shell(command);
      examples.postgres.sql('delete from posthorn.events');
      expect(shell(command)).toMatchObject({ outcome: 'processed', id });
      expect(examples.postgres.sql(`select count(*) from ledger where event_id = '${id}'`)).toBe('1');
      expect(examples.postgres.sql("select state from transfers where id = 'TR_sample'")).toBe('SUCCEEDED');
    });
  });
});

test('examples/github handles an event once, and parks one that it cannot read', async () => {
  const program = examples.start('github/server', { SIGNING_KEY: 'secret' });
  try {
    const [, url = ''] = (await program.line(/^listening on /)).split('listening on ');
    const body = JSON.stringify({ action: 'opened', issue: { number: 7, title: 'A title' } });
    const headers = {
      'content-type': 'application/json',
      'x-github-delivery': 'a-guid',
      'x-github-event': 'issues',
      'x-hub-signature-256': await sign('secret', body),
    };
    const answers = [];
    for (const own of [
      headers,
      headers,
      { ...headers, 'x-github-event': '', 'x-github-delivery': 'another' },
    ])
      answers.push(await (await fetch(url, { method: 'POST', body, headers: own })).json());
    expect(answers).toMatchObject([
      { outcome: 'processed', id: 'a-guid' },
      { outcome: 'duplicate', id: 'a-guid' },
      { outcome: 'parked', id: 'another' },
    ]);
    await program.line(/^a-guid #7 A title$/);
  } finally {
    program.kill('SIGTERM');
    expect(await program.exit).toBe(0);
  }
});

test('the letters that an example leaves in a clone are neither linted nor committed', async () => {
  const clone = temporaryDirectory();
  await createFileDeadLetters(join(clone, 'dead-letters')).put(letter('evt_1'));
  const [file = ''] = readdirSync(join(clone, 'dead-letters'));
  for (const name of ['biome.json', '.gitignore', 'package.json']) {
    copyFileSync(join(packageRoot, name), join(clone, name));
  }
  cpSync(join(packageRoot, 'tools', 'lint'), join(clone, 'tools', 'lint'), { recursive: true });
  const lint = (...paths: string[]) =>
    spawnSync(join(packageRoot, 'node_modules/.bin/biome'), ['check', '--error-on-warnings', ...paths], {
      cwd: clone,
      encoding: 'utf8',
    });
  writeFileSync(join(clone, 'linted.json'), '{"a" : 1}\n');
  expect(lint('linted.json').status, 'biome looks at what is here').toBe(1);
  rmSync(join(clone, 'linted.json'));
  const { status, stdout, stderr } = lint('.');
  expect(status, `${stdout}${stderr}`).toBe(0);
  execFileSync('git', ['init', '--quiet'], { cwd: clone });
  for (const path of ['dist/', `dead-letters/${file}`]) {
    execFileSync('git', ['check-ignore', '--quiet', path], { cwd: clone }); // throws for what is not
  }
});
