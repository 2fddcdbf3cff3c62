import type { TestProject } from 'vitest/node';

const DONE = Symbol.for('posthorn.tests.name-failed-files');

/** Ends a run that has failed with the command that runs each failed file alone, once for all projects. */
export default function setup({ vitest }: TestProject): (() => void) | undefined {
  if (Reflect.has(globalThis, DONE)) return undefined;
  Reflect.set(globalThis, DONE, true);
  return () => {
    const commands = vitest.state
      .getTestModules()
      .filter((module) => module.state() === 'failed')
      .map(({ project, relativeModuleId }) => `npx vitest run --project ${project.name} ${relativeModuleId}`);
    if (commands.length > 0) process.stderr.write(`\nEach failed file alone:\n  ${commands.join('\n  ')}\n`);
  };
}
