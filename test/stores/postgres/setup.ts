import { type ChildProcess, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { onFreePort } from '../../support/free-port.ts';
import { killAtEnd } from '../../support/reaper.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The data directory that those of all servers are copies of. */
    readonly postgresTemplate: string;
    /** The port of the server on which files have databases of their own: useDatabase in fixture.ts. */
    readonly postgresPort: number;
  }
}

interface Shared {
  readonly template: string;
  readonly port: number;
  /** May be called again. */
  readonly stop: () => Promise<void>;
}

const SHARED = Symbol.for('posthorn.tests.postgres');

/** Starts what all tests share, of however many projects; returns what ends it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const shared: Promise<Shared> = Reflect.get(globalThis, SHARED) ?? startShared();
  Reflect.set(globalThis, SHARED, shared);
  const { template, port, stop } = await shared;
  provide('postgresTemplate', template);
  provide('postgresPort', port);
  return stop;
}

async function startShared(): Promise<Shared> {
  // Not before test/support/install-programs.ts has run: the package creates the user that servers run as.
  const { createTemplate } = await import('./template.ts');
  const { startServer, stopServer } = await import('./server-process.ts');
  const { template, remove } = createTemplate();
  const directory = join(template, '..', 'shared');
  execFileSync('cp', ['-a', template, directory]);
  const start = async (own: number): Promise<ChildProcess> => {
    const { child, ready } = startServer(directory, own, {
      // Several files at a time, with several pools each.
      max_connections: '400',
      max_prepared_transactions: '20',
      // With a database for each file it would start a process every other second.
      autovacuum: 'off',
    });
    killAtEnd(child);
    await ready;
    return child;
  };
  const { port, child } = await onFreePort(start);
  let ended: Promise<void> | undefined;
  return { template, port, stop: () => (ended ??= stopServer(child, 'kill').then(remove)) };
}
