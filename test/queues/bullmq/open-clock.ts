import { onTestFinished, vi } from 'vitest';

/** The clock of this process, with its workers, until the test is over. */
export function openClock(): { readonly advance: (ms: number) => void } {
  const real = Date.now;
  let aheadMs = 0;
  const mock = vi.spyOn(Date, 'now').mockImplementation(() => real() + aheadMs);
  onTestFinished(() => void mock.mockRestore());
  const advance = (ms: number): void => {
    aheadMs += ms;
  };
  return { advance };
}
