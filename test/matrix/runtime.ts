import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { madeOnce } from '../support/made-once.ts';
import { npmInstall } from '../support/packed-project.ts';

const { arch } = process;
// The packages of the registry that hold the binaries themselves, so that no script has to run. For Linux
// with glibc: elsewhere npm says that they do not fit.
export const nodePackage = `node-linux-${arch}`;
export const bunPackage = `@oven/bun-linux-${arch === 'arm64' ? 'aarch64' : arch}`;
export const denoPackage = `@deno/linux-${arch}-glibc`;

/** The folder of a package that holds a runtime. It is installed once in a run, because it has 100 MB. */
export function runtimeFolder(from: string): string {
  const project = madeOnce(from.replaceAll('/', '-'), (folder) => {
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    npmInstall(folder, `runtime@npm:${from}`);
  });
  return join(project, 'node_modules', 'runtime');
}

/** The path of a version of Node.js. */
export function nodeProgram(version: string): string {
  return join(runtimeFolder(`${nodePackage}@${version}`), 'bin', 'node');
}
