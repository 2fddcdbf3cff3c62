import { propertyOf } from '../../receiver/values/foreign-values.ts';
import { CommandError, codeOf } from '../failure.ts';
import { peerVersions } from '../manifest.ts';

/** Ways out for people who cannot install a package. */
export interface OtherWays {
  /** Stands before the names of the packages, as in `Node.js 22.13 or later, or `. */
  readonly before?: string;
  /** Stands after the commands that install them. */
  readonly after?: string;
}

/**
 * Loads the first of some optional packages that is installed, each by its own function. If none is, the
 * error names them all, and says how to install each.
 */
export async function loadPeer<Exports>(
  loaders: Readonly<Record<string, () => Promise<Exports>>>,
  { before = '', after = '' }: OtherWays = {},
): Promise<Exports> {
  const causes: unknown[] = [];
  for (const load of Object.values(loaders)) {
    try {
      return await load();
    } catch (cause) {
      if (!isAbsence(cause)) throw cause;
      causes.push(cause);
    }
  }
  const names = Object.keys(loaders);
  const installs = names.map((name) => `npm install "${name}@${peerVersions[name]}"`).join(' or ');
  const absence = names.length === 1 ? 'which is not installed' : 'and none of them is installed';
  const message = `this needs ${before}the package ${names.join(' or ')}, ${absence}: ${installs}${after}`;
  throw new CommandError('package_missing', message, { cause: causes[0] });
}

/** Yarn Plug'n'Play has errors of its own, with a code that CommonJS also has for a broken package. */
function isAbsence(error: unknown): boolean {
  return codeOf(error) === 'ERR_MODULE_NOT_FOUND' || propertyOf(error, 'pnpCode') !== undefined;
}
