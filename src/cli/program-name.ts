import { relative } from 'node:path';
import { quote } from './quote.ts';

/** The commands that run a program of an installed package, by the name in `npm_config_user_agent`. */
const runners: ReadonlyMap<string, { readonly installed: string; readonly downloaded: string }> = new Map([
  ['npm', { installed: 'npx', downloaded: 'npx' }],
  ['pnpm', { installed: 'pnpm exec', downloaded: 'pnpm dlx' }],
  ['yarn', { installed: 'yarn', downloaded: 'yarn dlx' }],
  ['bun', { installed: 'bunx', downloaded: 'bunx' }],
]);

/**
 * The program's name as it was called, so that a printed command can be pasted: `npx posthorn` if npx or a
 * script of package.json has started it, because then the shell does not find `posthorn` by itself.
 */
export function programName(): string {
  const path = process.argv[1] ?? '';
  const [agent = ''] = (process.env.npm_config_user_agent ?? '').split('/');
  const runner = runners.get(agent);
  if (runner === undefined) return 'posthorn';
  if (!/[\\/]node_modules[\\/]/.test(path)) {
    // `npm start` in a clone, or a global installation.
    return path.endsWith('.js') ? `node ${quote(relative('', path))}` : 'posthorn';
  }
  // pnpm and Yarn download into a folder `dlx` or `dlx-…`.
  return `${/[\\/]dlx[-\\/]/.test(path) ? runner.downloaded : runner.installed} posthorn`;
}
