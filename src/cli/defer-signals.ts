import { constants } from 'node:os';
import { note } from '../output.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs work that waits for a signing key, which the service shows only once. The first signal does not
 * interrupt it: the command ends after the work, with the exit code that shells give for the signal. A second
 * one ends the command at once, after `abandon`.
 */
export async function deferSignals<T>(work: () => Promise<T>, abandon: () => void): Promise<T> {
  let isSignalled = false;
  const onSignal = (signal: (typeof SIGNALS)[number]): void => {
    process.exitCode = 128 + constants.signals[signal];
    if (isSignalled) {
      abandon();
      process.exit();
    }
    isSignalled = true;
    note(
      `posthorn: ${signal}: still waiting for the answer, which may show a signing key. Another ends at once`,
    );
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}
