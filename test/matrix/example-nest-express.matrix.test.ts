import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startProgram } from '../support/child-program.ts';
import { freePort } from '../support/free-port.ts';
import { snippetWith } from '../support/snippet.ts';
import { expectDeliveries, KEY, stopInDelivery } from './example-project.ts';
import { expectNestExample, nestProjects, openNestExample } from './nest-example.ts';

test.each(nestProjects)(
  'examples/nest-express on NestJS $version, as $type, receives, replays by the command, and finishes its deliveries on SIGTERM, and so does the mount by hand',
  async (project) => {
    const example = openNestExample('nest-express', project);
    await expectNestExample(example);
    await expectSnippet(example.folder);
  },
);

/** Puts the snippet of the mount by hand in place of the sources, and checks it as a program. */
async function expectSnippet(folder: string): Promise<void> {
  const port = await freePort();
  rmSync(join(folder, 'src'), { recursive: true });
  mkdirSync(join(folder, 'src'));
  writeFileSync(
    join(folder, 'src', 'main.ts'),
    snippetWith('toExpress(app.get', 'docs/adapters.md').replace('3000', `${port}`),
  );
  execFileSync('npm', ['run', 'build'], { cwd: folder, stdio: 'pipe' });
  const program = startProgram(join(folder, 'dist', 'main.js'), { SIGNING_KEY: KEY }, folder);
  onTestFinished(() => program.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}/webhooks`;
  // NestJS says that it has started before it listens.
  await vi.waitUntil(() => fetch(url).catch(() => undefined), 20_000);
  const stop = (): Promise<number | null> => {
    program.kill('SIGTERM');
    return program.exit;
  };
  await expectDeliveries({ url, key: KEY });
  expect(await stopInDelivery({ program, url, key: KEY, stop })).toBeNull();
}
