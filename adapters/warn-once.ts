/**
 * A function that warns, the first time it is called, of a function of the platform or of the application
 * that does not do what it must. The receiver, which has reports, never sees what adapters alone call.
 */
export function createWarning(functionName: string): (problem: string) => void {
  let hasWarned = false;
  return (problem) => {
    if (hasWarned) return;
    hasWarned = true;
    process.emitWarning(`posthorn: ${functionName} ${problem}`);
  };
}
