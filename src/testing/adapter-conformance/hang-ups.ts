import assert from 'node:assert/strict';
import { HANG_UP } from './advice.ts';
import { expectAccepted, expectEqual } from './answer.ts';
import type { Check, Group } from './case.ts';
import { transfer } from './delivery.ts';
import type { RawConnection } from './raw-connection.ts';
import { attack, type Target } from './target.ts';
import { Gate } from './waits.ts';

/** Waits until the adapter and its server know that the sender of all deliveries so far has hung up. */
export async function untilGone(target: Target): Promise<void> {
  if (target.hidesConnections) return;
  for (const { isConnected } of target.endpoint.deliveries) {
    assert.ok(isConnected !== undefined, 'the delivery must have isConnected');
    await target.bench.until('isConnected to return false', () => !isConnected());
  }
  await target.untilNoConnections();
}

function hangUp(how: (connection: RawConnection) => unknown): Check {
  return (bench) => {
    const gate = new Gate();
    const aborted: boolean[] = [];
    const check = attack(
      {},
      async (target) => {
        const { endpoint } = target;
        const connection = await target.connect();
        const event = transfer();
        connection.write(target.requestOf(event));
        await endpoint.arrived(1);
        how(connection);
        await untilGone(target);
        gate.open();
        const { outcome, event: of, answerSent, late } = await endpoint.report();
        expectEqual([outcome, of?.id, late], ['processed', event.id, false], 'outcome, event and late');
        if (!target.hidesConnections) expectEqual(answerSent, false, 'answerSent of the report');
        expectEqual(aborted, [false], 'whether signal was aborted');
        const again = await target.connect();
        again.write(target.requestOf(event));
        expectAccepted(await again.answer(), 'duplicate', event.id);
        expectEqual(endpoint.reports.length, 2, 'the number of reports');
      },
      (receiver) =>
        receiver.on('transfer.*', async (_, { signal }) => {
          await gate.opened;
          aborted.push(signal.aborted);
        }),
    );
    return check(bench);
  };
}

export const hangUps: Group = {
  name: 'connections',
  advice: HANG_UP,
  checks: {
    'a sender that hangs up while the handler runs (destroy) aborts nothing': hangUp(({ socket }) =>
      socket.destroy(),
    ),
    'a sender that hangs up while the handler runs (resetAndDestroy) aborts nothing': hangUp(({ socket }) =>
      socket.resetAndDestroy(),
    ),
  },
};
