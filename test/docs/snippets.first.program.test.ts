import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChildProgram, packageRoot } from '../support/child-program.ts';
import { freePort } from '../support/free-port.ts';
import { snippetWith } from '../support/snippet.ts';
import { expectDeliveries, expectImported, ofReadme, printedBy, starterIn } from './snippets.ts';

const { all, servers, modules, programs } = ofReadme;

/** A snippet that fails a dispute without an amount for good, and a delivery of one to it. */
const parked = {
  name: 'parked',
  code: `${snippetWith('PermanentError', 'README.md')}
const { createEvent, deliver } = await import('posthorn/testing');
const key = process.env.SIGNING_KEY ?? '';
console.log(await (await deliver(receiver, createEvent('dispute.created', {}), { key })).text());
`,
};

let directory: string;
let port: number;
let programsRun: ChildProgram;
let modulesRun: ChildProgram;
let serversRun: ChildProgram;

// They are JavaScript: test/docs/snippets.program.test.ts compiles them with all others.
beforeAll(async () => {
  // Inside the package, so that the snippets import it by its name: what is built, not the sources.
  const folder = join(packageRoot, 'dist', 'readme');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  directory = mkdtempSync(join(tmpdir(), 'posthorn-readme-'));
  port = await freePort();
  for (const { name, code } of [...all, parked])
    writeFileSync(join(folder, `${name}.js`), code.replaceAll('3000', String(port)));
  const start = starterIn(folder, directory);
  programsRun = start('program', [...programs, parked]);
  modulesRun = start('module', modules);
  serversRun = start('server', servers);
});

afterAll(() => {
  serversRun?.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

describe('the snippets of the README and of docs/ compile and run', () => {
  test.each(servers)('$name, a server', (snippet) => expectDeliveries(serversRun, snippet, port));

  test.each(programs)('$name, a program', async ({ name }) => {
    await printedBy(programsRun, name);
  });

  test('the README parks the event that its snippet gives up', async () => {
    expect(await printedBy(programsRun, parked.name)).toContainEqual(
      expect.stringContaining('"outcome":"parked"'),
    );
  });

  test('all programs come to an end by themselves', async () => {
    expect(await programsRun.exit, programsRun.lines.join('\n')).toBe(0);
  });

  test.each(modules)('$name, a module', (snippet) => expectImported(modulesRun, snippet));
});
