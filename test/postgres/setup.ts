import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The data directory that those of all servers are copies of. */
    readonly postgresTemplate: string;
  }
}

/** Makes what all servers begin with; returns what removes it. */
export default async function setup({ provide }: TestProject): Promise<() => void> {
  // Not before test/support/install-programs.ts has run: the package creates the user that servers run as.
  const { createTemplate } = await import('./template.ts');
  const { template, remove } = createTemplate();
  provide('postgresTemplate', template);
  return remove;
}
