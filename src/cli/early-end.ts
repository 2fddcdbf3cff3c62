import { CommandError, currentExitCode, lineOf, setFailed } from './failure.ts';
import { endProcess, hasEnded, note } from './output.ts';

/**
 * Makes the command fail if the process ends before it. The module of a receiver can end the process, or wait
 * for something that never comes. Then the exit code of Node.js would say nothing about the command.
 */
export function failOnEarlyEnd(): void {
  process.on('beforeExit', () => {
    fail('it waits for something that never comes, such as a promise of the receiver');
    void endProcess();
  });
  process.on('exit', () => {
    if (hasEnded()) return;
    fail('the module of the receiver called process.exit(), or threw an error that nobody caught');
    process.exitCode = currentExitCode();
  });
}

function fail(reason: string): void {
  note(lineOf(new CommandError('failed', `the command did not come to its end: ${reason}`)));
  setFailed();
}
