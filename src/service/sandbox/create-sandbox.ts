import { assembleSandbox } from './assemble.ts';
import type { SandboxOptions } from './options.ts';
import type { Sandbox } from './sandbox.ts';

/**
 * Plays the service on this machine over real HTTP: every path of its interface, and the deliveries of
 * events.
 *
 * @throws ConfigurationError for a wrong option, or a state file that cannot be read or written.
 *
 * @example
 * ```ts
 * import { createSandbox } from 'posthorn/sandbox';
 *
 * const sandbox = createSandbox({ clock: 'manual' });
 * const { url } = await sandbox.listen();
 * // create a webhook at `url` + '/payments/na/webhooks', then:
 * sandbox.send({ type: 'transfer.succeeded' });
 * await sandbox.settled();
 * await sandbox.clock.advance(60_000); // the first retry of what failed
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return assembleSandbox(options);
}
