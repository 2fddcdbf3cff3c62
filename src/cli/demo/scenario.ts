import { setTimeout as delay } from 'node:timers/promises';
import type { Sandbox } from '../../service/sandbox/index.ts';
import type { Output } from '../output.ts';

const MINUTE_MS = 60_000;

/**
 * Sends a good event, its duplicate, a forged one, one whose handler fails once, and one whose handler always
 * fails. Resolves with the id of that one, which is parked. The sandbox's clock is stepped over the pauses
 * between retries. On a terminal the scenario takes its time, so that people can follow it on the page.
 */
export async function runScenario(sandbox: Sandbox, output: Output): Promise<{ readonly parkedId: string }> {
  const pauseMs = output.isTerminal ? 2_000 : 0;
  const say = async (text: string): Promise<void> => {
    await delay(pauseMs);
    output.print({ kind: 'step', text }, () => `# ${text}`);
  };

  await say('an event, and a second delivery of it at the same moment');
  sandbox.send({ type: 'transfer.succeeded', duplicates: 1 });
  await sandbox.settled();

  await say('somebody changes an event on its way');
  sandbox.send({ type: 'transfer.succeeded', changed: true });
  await sandbox.settled();

  await say('a handler fails once; the service tries again after a minute');
  sandbox.send({ type: 'settlement.approved' });
  await sandbox.settled();
  await sandbox.clock.advance(MINUTE_MS);

  await say('a handler always fails; the last retry is parked, so that the service does not give up');
  const { id: parkedId } = sandbox.send({ type: 'dispute.created' });
  await sandbox.settled();
  for (const minutes of [1, 5, 15]) await sandbox.clock.advance(minutes * MINUTE_MS);
  return { parkedId };
}
