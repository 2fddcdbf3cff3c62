import { execFileSync } from 'node:child_process';
import { packageRoot } from './child-program.ts';

/** The names that a subpath of what is built exports: by `import`, and by `require`. */
export function exportsOfBuilds(subpath: string): readonly string[][] {
  const program = `
    import * as imported from '${subpath}';
    import { createRequire } from 'node:module';
    const required = createRequire(import.meta.url)('${subpath}');
    console.log(JSON.stringify([imported, required].map((exports) => Object.keys(exports).sort())));`;
  const command = ['--input-type=module', '-e', program];
  return JSON.parse(execFileSync(process.execPath, command, { cwd: packageRoot, encoding: 'utf8' }));
}
