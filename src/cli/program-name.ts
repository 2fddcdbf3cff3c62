import { existsSync } from 'node:fs';
import { basename, delimiter, join, relative } from 'node:path';
import { quote } from './quote.ts';

/** The commands that run a program of an installed package, by the name in `npm_config_user_agent`. */
const runners: ReadonlyMap<string, { readonly installed: string; readonly downloaded: string }> = new Map([
  ['npm', { installed: 'npx', downloaded: 'npx' }],
  ['pnpm', { installed: 'pnpm exec', downloaded: 'pnpm dlx' }],
  ['yarn', { installed: 'yarn', downloaded: 'yarn dlx' }],
  ['bun', { installed: 'bunx', downloaded: 'bunx' }],
]);

/**
 * The program as a shell finds it from here, so that a printed command can be pasted: `npx posthorn` if npx
 * or a script of package.json has started it, `node node_modules/.bin/posthorn` in an image that has only
 * Node.js.
 */
export function programName(): string {
  const path = process.argv[1] ?? '';
  const isDependency = /[\\/]node_modules[\\/]/.test(path);
  const [agent = ''] = (process.env.npm_config_user_agent ?? '').split('/');
  const runner = runners.get(agent);
  if (runner === undefined) return isDependency && !isInPath('posthorn') ? byNode(path) : 'posthorn';
  if (!isDependency) {
    // `npm start` in a clone, or a global installation.
    return path.endsWith('.js') ? byNode(path) : 'posthorn';
  }
  // pnpm and Yarn download into a folder `dlx` or `dlx-…`.
  return `${/[\\/]dlx[-\\/]/.test(path) ? runner.downloaded : runner.installed} posthorn`;
}

/** The Node.js of an image without a shell need not be in `PATH`. */
function byNode(path: string): string {
  const { execPath } = process;
  return `${isInPath(basename(execPath)) ? 'node' : quote(execPath)} ${quote(relative('', path))}`;
}

function isInPath(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));
}
