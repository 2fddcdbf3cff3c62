import { type CommandError, codeOf, exitCodeOf, lineOf, setExitCode, usageError } from './failure.ts';
import { endProcess, note } from './output.ts';

/** Returns true if a server of the module could not listen: most likely the running one has the port. */
export function isListeningError(error: unknown): boolean {
  return codeOf(error) === 'EADDRINUSE';
}

/** The error for a module that starts a server besides creating the receiver. */
export function listeningError(path: string): CommandError {
  return usageError(
    `${JSON.stringify(path)} also starts a server, and its port is taken (EADDRINUSE), most likely by the ` +
      'running one: create the receiver in a module that does not listen, import it from there in the module ' +
      'that does, and name the first one with --receiver',
  );
}

/**
 * Ends the program with that error if a server of the module emits it, after the import. Any other uncaught
 * error of the module ends the program as usual.
 */
export function endOnListeningError(path: string): void {
  const end = (error: unknown): void => {
    process.off('uncaughtException', end);
    if (!isListeningError(error)) {
      process.nextTick(() => {
        throw error;
      });
      return;
    }
    const failure = listeningError(path);
    note(lineOf(failure));
    setExitCode(exitCodeOf(failure));
    void endProcess();
  };
  process.on('uncaughtException', end);
}
