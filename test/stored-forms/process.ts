import { createHmac } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { driverPath } from '../stores/sqlite/driver.ts';
import { type ChildProgram, startProgram } from '../support/child-program.ts';
import type { Version } from './version.ts';

/** The key of all receivers here. */
export const KEY = 'key-of-the-stored-forms';

/** Where a process keeps its state. */
export interface Settings {
  /** A stranger is a worker without the handler of the queue. */
  readonly role?: 'receiver' | 'worker' | 'stranger';
  /** Where ids and letters are kept; with `files`, only letters are, and ids in memory. */
  readonly store: 'redis' | 'postgres' | 'files' | 'd1';
  readonly scope: string;
  readonly hasLetters?: boolean;
  readonly hasQueue?: boolean;
  readonly redisPort?: number;
  readonly postgresUrl?: string;
  /** A file of SQLite that stands for a database of D1. */
  readonly d1File?: string;
  /** Of letters in files. */
  readonly directory?: string;
  readonly leaseMs?: number;
  /** A file of notes that several processes share. */
  readonly log?: string;
}

/** A process of test/stored-forms/program.mjs. */
export interface Started extends ChildProgram {
  /** As it is in its notes. */
  readonly pid: string;
  /** Of a receiver. */
  readonly url: string;
}

/** Starts a process, which is killed with the test at the latest. */
export async function start(version: Version, settings: Settings): Promise<Started> {
  const { role = 'receiver', store, scope, hasLetters = true, hasQueue = false } = settings;
  const optional = {
    QUEUE: hasQueue ? 'yes' : undefined,
    REDIS_PORT: settings.redisPort?.toString(),
    POSTGRES_URL: settings.postgresUrl,
    D1_FILE: settings.d1File,
    SQLITE_DRIVER: driverPath,
    DIRECTORY: settings.directory,
    LEASE_MS: settings.leaseMs?.toString(),
    LOG: settings.log,
  };
  const env = { ROLE: role, STORE: store, LETTERS: hasLetters ? 'yes' : 'none', SCOPE: scope, KEY };
  const program = startProgram(
    version.program,
    { PATH: process.env.PATH, ...env, ...optional },
    version.root,
  );
  onTestFinished(() => program.kill('SIGKILL'));
  const [pid = '', , port = ''] = (await program.line(/ (working|listening \d+)$/)).split(' ');
  return { ...program, pid, url: `http://127.0.0.1:${port}/` };
}

/** Sends a body that is signed here, because an earlier version may sign in another way. */
export async function post(url: string, body: string): Promise<{ status: number; outcome?: string }> {
  const headers = {
    'content-type': 'application/json',
    'x-service-signature': createHmac('sha256', KEY).update(body).digest('hex'),
  };
  const response = await fetch(url, { method: 'POST', body, headers });
  const { outcome } = (await response.json()) as { readonly outcome?: string };
  return { status: response.status, ...(outcome && { outcome }) };
}
