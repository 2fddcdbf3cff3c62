import { onTestFinished, vi } from 'vitest';
import type { QueueServer } from './queue-server.ts';

/** The clock of this process, with its workers, until the test is over; and that of a server. */
export function openClock({ setAhead = async () => {} }: Partial<Pick<QueueServer, 'setAhead'>> = {}) {
  const real = Date.now;
  let aheadMs = 0;
  const mock = vi.spyOn(Date, 'now').mockImplementation(() => real() + aheadMs);
  onTestFinished(async () => {
    mock.mockRestore();
    await setAhead(0);
  });
  const advance = async (ms: number): Promise<void> => {
    aheadMs += ms;
    await setAhead(aheadMs);
  };
  return { advance };
}
