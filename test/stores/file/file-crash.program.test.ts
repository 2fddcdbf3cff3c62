import { readdir } from 'node:fs/promises';
import { createFileDeadLetters } from 'posthorn/file';
import { deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import type { ChildProgram } from '../../support/child-program.ts';
import { eventAt, openEndpoint } from '../../support/open-endpoint.ts';
import { addressOf, startOwnProgram } from '../../support/own-program.ts';
import { readAll } from '../../support/read-all.ts';
import { KEY } from '../../support/served.ts';
import { MINUTE_MS } from '../../support/step-clock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

interface Process extends ChildProgram {
  readonly send: (event: object) => Promise<Response>;
}

/** Starts a process with a fresh store, whose clock is so many minutes ahead. */
async function startReceiver(directory: string, death: string, minutesAhead: number): Promise<Process> {
  const env = {
    DIRECTORY: directory,
    SIGNING_KEY: KEY,
    DEATH: death,
    CLOCK_AHEAD_MS: String(minutesAhead * MINUTE_MS),
  };
  const child = startOwnProgram('test/stores/file/crash-program.mjs', env);
  const url = await addressOf(child);
  return { ...child, send: (event) => awaitedLater(deliver(url, event, { key: KEY })) };
}

/** The exit code by each death. Windows has no signals: a process that is killed there ends with 1. */
const codes = { exit: 7, SIGKILL: process.platform === 'win32' ? 1 : null };

describe.each(['exit', 'SIGKILL'] as const)('a poison event that kills its process by %s', (death) => {
  test('is there as a letter after the last attempt, and kills no further process', async () => {
    const directory = temporaryDirectory();
    const deadLetters = createFileDeadLetters(directory);
    const event = eventAt(Date.now());

    const first = await startReceiver(directory, death, 0);
    await expect(first.send(event)).rejects.toThrow();
    expect(await first.exit).toBe(codes[death]);
    expect(first.lines).toContain(`handling ${event.id}`);
    expect(await readAll(deadLetters.list())).toEqual([]);

    const last = await startReceiver(directory, death, 15);
    await expect(last.send(event)).rejects.toThrow();
    expect(await last.exit).toBe(codes[death]);
    expect(last.lines).toContain(`handling ${event.id}`);
    const left = await deadLetters.get(event.id);
    expect(left).toMatchObject({ id: event.id, type: event.type, attempts: 1, handled: [] });
    expect(Buffer.from(left?.rawBody ?? []).toString()).toBe(JSON.stringify(event));
    expect(left?.runningUntil).toBeGreaterThan(Date.now() + 15 * MINUTE_MS);
    expect(await readdir(directory)).toHaveLength(1);

    const next = await startReceiver(directory, death, 15.5);
    const parked = await next.send(event);
    expect(parked.status).toBe(200);
    expect(await parked.json()).toEqual({ outcome: 'parked', id: event.id });
    expect(await next.line(/^report/)).toBe('report parked run_abandoned');
    expect(next.lines).not.toContain(`handling ${event.id}`);
    const harmless = { ...eventAt(Date.now()), type: 'dispute.won' };
    expect((await next.send(harmless)).status).toBe(200);

    const letter = await deadLetters.get(event.id);
    expect(letter?.reason).toBe('run_abandoned');
    expect(letter?.runningUntil).toBeUndefined();
    if (letter === undefined) throw new Error('no letter');
    const { receiver: mended } = await openEndpoint({ deadLetters }, (receiver) =>
      receiver.on('transfer.*', () => 'done'),
    );
    expect(await mended.replay(letter)).toMatchObject({ outcome: 'processed', event: { id: event.id } });
    expect(await readdir(directory)).toEqual([]);
  });
});
