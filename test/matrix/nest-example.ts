import { type ExampleProject, expectExample, openExample } from './example-project.ts';

/** The versions of NestJS that the examples are for, each with the modules of its projects. */
export const nestProjects = [
  { version: 12, type: 'module' },
  { version: 11, type: 'commonjs' },
] as const;

/** Opens an example of NestJS with a version of it, in a project with the modules of that version. */
export function openNestExample(
  name: 'nest-express' | 'nest-fastify',
  { version, type }: (typeof nestProjects)[number],
): ExampleProject {
  const packages = ['common', 'core', name.replace('nest', 'platform')];
  return openExample(name, { packages: packages.map((part) => `@nestjs/${part}@${version}`), type });
}

/** Checks what a NestJS example must do, up to its end by SIGTERM. */
export async function expectNestExample({ start }: ExampleProject): Promise<void> {
  // NestJS sends itself the signal again, once its hooks have run.
  await expectExample(await start(), { module: 'dist/receiver.mjs', exitCode: null });
}
