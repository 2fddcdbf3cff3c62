import type { Delivery } from '../../receiver/request/delivery.ts';
import type { ReceiverOptions } from '../../receiver-interface.ts';
import { expectEqual, expectProblem } from './answer.ts';
import type { Bench } from './bench.ts';
import type { Check } from './case.ts';
import { BASIC } from './delivery.ts';
import type { Serve } from './platform.ts';
import { chunk } from './raw-connection.ts';
import { Target } from './target.ts';

/** Serves the adapter, and keeps the numbers of bytes that it holds of a body after its reading has ended. */
function watchLateBytes({ platform }: Bench, lateBytes: number[]): Serve {
  return (receiver) =>
    platform.serve({
      receive: ({ method, headers, readBody }) => {
        const readWatched: Delivery['readBody'] = async ({ maxBytes, signal, onProgress }) => {
          let hasEnded = false;
          const watch = (heldBytes: number): void => {
            if ((signal.aborted || hasEnded) && heldBytes > 0) lateBytes.push(heldBytes);
            onProgress?.(heldBytes);
          };
          try {
            return await readBody({ maxBytes, signal, onProgress: watch });
          } finally {
            hasEnded = true;
          }
        };
        return receiver.receive({ method, headers, readBody: readWatched });
      },
    });
}

/** Sends the rest of a body after its delivery was refused, of which the adapter must hold nothing. */
export function restIsDropped(
  options: Partial<ReceiverOptions>,
  refusal: readonly [status: number, code: string],
  [first, rest]: readonly [first: string, rest: string],
): Check {
  return async (bench) => {
    const lateBytes: number[] = [];
    const settings = { options: { authentication: BASIC, ...options } };
    const target = new Target(await bench.open(settings, watchLateBytes(bench, lateBytes)), bench);
    const connection = await target.connect();
    connection.write(target.head({ 'transfer-encoding': 'chunked' }) + chunk(first));
    expectProblem(await connection.answer(), ...refusal);
    connection.write(`${chunk(rest)}0\r\n\r\n`);
    if (!target.hidesConnections) await connection.closed;
    // By the time that a later delivery is answered, these bytes have been read.
    await target.expectServed(await target.connect());
    expectEqual(lateBytes, [], 'the bytes that were held of a body after it was given up');
  };
}
