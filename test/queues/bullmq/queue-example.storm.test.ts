import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { KEY, send } from '../../stores/redis/deliveries.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import type { ChildProgram } from '../../support/child-program.ts';
import { startOwnProgram } from '../../support/own-program.ts';
import { randomPause } from '../../support/random-pause.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

const SENDERS = 4;
const PAUSE_MS = 300;

describe('examples/queue under load', () => {
  const fixture = useRedis();

  /** Starts one of its programs; resolves once that is ready. */
  async function start(name: 'server' | 'worker'): Promise<ChildProgram> {
    const env = { PORT: '0', SIGNING_KEY: KEY, REDIS_URL: `redis://127.0.0.1:${fixture.redis.port}` };
    const program = startOwnProgram(`dist/examples/queue/${name}.js`, env, temporaryDirectory());
    await program.line(/^(working|listening on )/);
    return program;
  }

  test('a receiver and a worker end on their signals; what was acknowledged is handled once', async () => {
    const [receiver, first, second] = await Promise.all([start('server'), start('worker'), start('worker')]);
    const [, url = ''] = (await receiver.line(/^listening on /)).split('listening on ');
    const acknowledged: string[] = [];
    const statuses = new Set<number>();
    let isOver = false;
    const senders = Array.from({ length: SENDERS }, async () => {
      while (!isOver) {
        const event = createEvent('transfer.succeeded');
        // One that the receiver no longer takes fails, or gets 503; the service would send it again.
        const answer = await send(url, event).catch(() => undefined);
        if (answer !== undefined) statuses.add(answer.status);
        if (answer?.status === 202) acknowledged.push(event.id);
        await randomPause(PAUSE_MS);
      }
    });

    await until('the first worker is busy', () => idsOf(first).length > 0);
    first.kill('SIGTERM');
    expect(await first.exit, first.lines.join('\n')).toBe(0);
    receiver.kill('SIGTERM');
    expect(await receiver.exit, receiver.lines.join('\n')).toBe(0);
    isOver = true;
    await Promise.all(senders);
    const handled = (): string[] => [first, second].flatMap(idsOf);
    await until('all are handled', () => handled().length >= acknowledged.length);
    second.kill('SIGINT');
    expect(await second.exit, second.lines.join('\n')).toBe(0);
    expect(handled().toSorted()).toEqual(acknowledged.toSorted());
    expect([...statuses].filter((status) => status !== 202 && status !== 503)).toEqual([]);
  });
});

/** The events that a worker has printed. */
function idsOf({ lines }: ChildProgram): string[] {
  return lines.flatMap((line) => / transfer\.succeeded (evt_\S+) /.exec(line)?.[1] ?? []);
}
