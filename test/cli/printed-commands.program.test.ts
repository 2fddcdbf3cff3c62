import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { quote } from '../../src/cli/quote.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { freePort } from '../support/free-port.ts';
import { paste, startPasted, startPosthorn } from './posthorn.ts';
import { serveReceiver } from './refusing-servers.ts';
import { startDev } from './started-dev.ts';

/** The commands that a program has printed below a heading, until the next line without indentation. */
function commandsBelow(heading: string, { lines }: Pick<ChildProgram, 'lines'>): string[] {
  const [, ...below] = lines.slice(lines.indexOf(heading));
  const end = below.findIndex((line) => !line.startsWith('  '));
  return below.slice(0, end === -1 ? undefined : end).map((line) => line.trim());
}

test.each(['sh', 'bash'])('%s reads a quoted word back', (shell) => {
  const odd = ['', "it's", '$1 `a` "b"', '\\n \\0 %s', '\u001b[31m\u202e\u2028é\n\\033', "\t'\u0085漢"];
  for (const word of shell === 'sh' ? odd : [...odd, "line's\n", '\n']) {
    const printed = quote(word);
    expect(printed).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u);
    expect(execFileSync(shell, ['-c', `printf %s. ${printed}`], { encoding: 'utf8' })).toBe(`${word}.`);
  }
});

/** Runs each command by itself, in a shell that has nothing of the others. */
async function pasteEach(commands: readonly string[]): Promise<string[]> {
  const outputs: string[] = [];
  for (const command of commands) outputs.push(await paste(command));
  return outputs;
}

describe('each printed command works by itself, in another terminal', () => {
  test.each([
    { name: 'of its own', credentials: [] },
    {
      name: 'that a shell must quote',
      credentials: [
        ...['--administrator', "a d:m'in $1", '--banking-token', "t'$1", '--api-key', "k'$1"],
        ...['--access-token', 'x$1'],
      ],
    },
  ])('posthorn sandbox, with credentials $name', async ({ credentials }) => {
    const sandbox = startPosthorn(['sandbox', '--port', '0', '--clock', 'manual', ...credentials]);
    await sandbox.line(/^ {2}export /);
    const [create = '', listen = '', ...others] = commandsBelow('to try in another terminal:', sandbox);
    const [keyFile = ''] = /\/\S+$/.exec(create) ?? [];
    onTestFinished(() => rmSync(keyFile, { force: true }));
    expect(await paste(create)).toContain(`its signing key is in ${keyFile}`);
    // Another program of this machine may have the port that is printed.
    await startPasted(listen.replace(/(?<= --port )3000$/, '0')).line(/^listening on /);
    const [event, clock, deliveries, checks, quote] = (await pasteEach(others)).map((text) =>
      JSON.parse(text),
    );
    expect(event).toMatchObject({ type: 'transfer.succeeded', id: expect.any(String) });
    expect(clock).toEqual({ now: expect.stringMatching(/Z$/) });
    expect(deliveries).toContainEqual(expect.objectContaining({ event: event.id }));
    expect(checks).toMatchObject({ checkInfo: [{}, {}] });
    expect(quote).toMatchObject({ status: 'GENERATED' });
  });

  test('posthorn sandbox exports what all other commands need', async () => {
    const sandbox = startPosthorn(['sandbox', '--port', '0']);
    const exported = (await sandbox.line(/^ {2}export /)).trim();
    const outputs = await pasteEach(
      [
        `webhooks create http://127.0.0.1:${await freePort()}/webhooks`,
        'trigger transfer.succeeded',
        'deliveries',
        'fx-quotes create EUR --source-amount 100.00',
        'e-checks find MTX-1002',
        'lists currencies',
        'lists payment-purposes',
      ].map((words) => `${exported}\nposthorn ${words}`),
    );
    expect(outputs.join()).toMatch(/created WH[\s\S]* transfer\.succeeded [\s\S]*EUR/);
    expect(outputs).not.toContain('');
  });

  test('posthorn dev, which triggers what its webhook wants', async () => {
    const { program } = await startDev(await serveReceiver(), ['--event', 'dispute.*']);
    await program.line(/posthorn deliveries/);
    const commands = commandsBelow('to try in another terminal:', program);
    const [trigger, duplicate, advance, deliveries] = await pasteEach(commands);
    expect(trigger).toMatch(/ dispute\.\S+ \S+ attempt 1 200 processed /);
    expect(duplicate).toMatch(/ 200 processed [\s\S]* 200 duplicate /);
    expect(advance).toMatch(/ older$/m);
    expect(deliveries?.trim().split('\n')).toHaveLength(3);
    expect(commands).toHaveLength(4);
  });
});
