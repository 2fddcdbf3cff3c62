import { setUnrefTimeout as setRealTimeout } from '../../src/receiver/timing/unref-timeout.ts';
import { tests } from './running-test.ts';

/** Stands for the one of the sources in tests (see `vitest.config.ts`): it is cleared when its test ends. */
export function setUnrefTimeout(callback: () => void, ms: number): NodeJS.Timeout {
  const timeouts = tests.getStore()?.timeouts;
  const onDue = (): void => {
    timeouts?.delete(timeout);
    callback();
  };
  const timeout = setRealTimeout(onDue, ms);
  timeouts?.add(timeout);
  return timeout;
}
