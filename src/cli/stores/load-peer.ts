import { CommandError, codeOf } from '../failure.ts';
import { peerVersions } from '../manifest.ts';

/**
 * Loads an optional package, or says how to install it. `alternative` names another way out.
 */
export async function loadPeer<Exports>(
  name: string,
  load: () => Promise<Exports>,
  alternative = '',
): Promise<Exports> {
  try {
    return await load();
  } catch (cause) {
    if (codeOf(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    const install = `npm install "${name}@${peerVersions[name]}"`;
    const message = `this needs ${alternative}the package ${name}, which is not installed: ${install}`;
    throw new CommandError('package_missing', message, { cause });
  }
}
