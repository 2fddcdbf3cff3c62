import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type ChildProgram, packageRoot } from '../support/child-program.ts';
import { freePort } from '../support/free-port.ts';
import { expectDeliveries, expectImported, ofReadme, starterIn } from './snippets.ts';

const { all, servers, modules } = ofReadme;

let directory: string;
let port: number;
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
  for (const { name, code } of all)
    writeFileSync(join(folder, `${name}.js`), code.replaceAll('3000', String(port)));
  const start = starterIn(folder, directory);
  modulesRun = start('module', modules);
  serversRun = start('server', servers);
});

afterAll(() => {
  serversRun?.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

describe('the snippets of the README and of docs/ compile and run', () => {
  test.each(servers)('$name, a server', (snippet) => expectDeliveries(serversRun, snippet, port));

  test.each(modules)('$name, a module', (snippet) => expectImported(modulesRun, snippet));
});
