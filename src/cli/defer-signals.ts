import { setExitCodeOfSignal } from './failure.ts';
import { endNow, note } from './output.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Work that a signal must not interrupt at once. */
export interface DeferredWork<T> {
  /** Told after the name of the first signal: the reason why the command goes on. */
  readonly reason: string;
  /** `isSignalled` returns true from the first signal on. */
  readonly work: (isSignalled: () => boolean) => Promise<T>;
  /** Called before a second signal ends the command. */
  readonly abandon?: () => void;
}

/**
 * Runs work that the first signal does not interrupt: the command ends after it, with the exit code that
 * shells give for the signal. A second one ends the command at once.
 */
export async function deferSignals<T>({ reason, work, abandon }: DeferredWork<T>): Promise<T> {
  let isSignalled = false;
  const onSignal = (signal: (typeof SIGNALS)[number]): void => {
    setExitCodeOfSignal(signal);
    if (isSignalled) {
      abandon?.();
      endNow();
    }
    isSignalled = true;
    note(`posthorn: ${signal}: ${reason}. Another ends at once`);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await work(() => isSignalled);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}
