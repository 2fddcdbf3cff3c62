import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fixture } from '../../stores/redis/fixture.ts';
import type { RedisServer } from '../../stores/redis/servers.ts';
import type { ChildProgram } from '../../support/child-program.ts';
import { readNotes } from '../../support/notes.ts';
import { startOwnProgram } from '../../support/own-program.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openQueue } from './queue-fixture.ts';

/** One process of test/queues/bullmq/process.mjs. */
export interface Started extends ChildProgram {
  readonly pid: string;
  /** Of a receiver. */
  readonly url: string;
}

/** A stranger is a worker without the handler of the events. */
export type Role = 'receiver' | 'worker' | 'stranger';

export interface ProcessOptions {
  readonly leaseMs?: number;
  /** Whether handlers wait for `openGate`; else they take a moment, or as long as their process is held. */
  readonly isGated?: boolean;
  /** True if the handlers handle one event of a resource at a time. */
  readonly isKeyed?: boolean;
}

/** The options of processes on Redis. */
interface RedisProcessOptions extends ProcessOptions {
  readonly redis?: Pick<RedisServer, 'port'>;
}

/** The server of the processes, as their environment names it. */
type ServerPort = { readonly REDIS_PORT: string } | { readonly POSTGRES_PORT: string };

export interface StartOptions {
  /** A receiver is killed by itself, between the queue's answer to this job of it and the sender's. */
  readonly diesAt?: number;
  /** Of a worker. */
  readonly concurrency?: number;
  /** How long each handler takes. */
  readonly workMs?: number;
  /** The time by which its clock is ahead. */
  readonly clockAheadMs?: number;
}

/** Receivers and workers in processes of their own, on one queue in Redis. */
export async function openProcesses(
  fixture: Fixture,
  { redis = fixture.redis, ...options }: RedisProcessOptions = {},
) {
  const opened = await openQueue(fixture, redis);
  const processes = launchProcesses({ REDIS_PORT: String(redis.port) }, opened.scope, options);
  return { ...opened, ...processes };
}

/** Starts processes on one queue, and reads their notes. */
export function launchProcesses(
  server: ServerPort,
  scope: string,
  { leaseMs = 1_000, isGated = true, isKeyed = false }: ProcessOptions,
) {
  const directory = temporaryDirectory();
  const log = join(directory, 'log');
  writeFileSync(log, '');
  const start = async (role: Role, options: StartOptions = {}): Promise<Started> => {
    const { diesAt, concurrency, workMs, clockAheadMs } = options;
    const program = startOwnProgram('test/queues/bullmq/process.mjs', {
      ROLE: role,
      ...server,
      SCOPE: scope,
      LOG: log,
      GATES: directory,
      LEASE_MS: String(leaseMs),
      ...(isGated && { IS_GATED: 'yes' }),
      ...(isKeyed && { IS_KEYED: 'yes' }),
      ...(diesAt !== undefined && { DIES_AT: String(diesAt) }),
      ...(concurrency !== undefined && { CONCURRENCY: String(concurrency) }),
      ...(workMs !== undefined && { WORK_MS: String(workMs) }),
      ...(clockAheadMs !== undefined && { CLOCK_AHEAD_MS: String(clockAheadMs) }),
    });
    const [pid = '', , port = ''] = (await program.line(/ (working|listening \d+)$/)).split(' ');
    return { ...program, pid, url: `http://127.0.0.1:${port}/` };
  };
  const notes = () => readNotes(log);
  /** The processes that have handled the event, in order. */
  const handledBy = (id: string): string[] =>
    notes().flatMap((note) => (note.what === 'handled' && note.id === id ? [note.pid] : []));
  /** Lets the handlers of a gated process end. */
  const openGate = ({ pid }: Started): void => writeFileSync(join(directory, pid), '');
  const heldPath = ({ pid }: Started): string => join(directory, `${pid}-held`);
  /** Keeps the handlers of a process that is not gated from ending: those of all events, or of these. */
  const hold = (held: Started, ids: readonly string[] = []): void => {
    // Renamed, because the process could find it empty while it is written.
    writeFileSync(join(directory, 'held'), ids.join('\n'));
    renameSync(join(directory, 'held'), heldPath(held));
  };
  const release = (held: Started): void => rmSync(heldPath(held));
  return { handledBy, hold, notes, openGate, release, start };
}
