import type { ChildProgram } from '../support/child-program.ts';
import { KEY } from '../support/served.ts';
import { type Ended, posthorn, startPosthorn } from './posthorn.ts';

export interface Dev {
  readonly program: ChildProgram;
  readonly url: string;
  /** Runs another command against it. */
  readonly run: (...args: string[]) => Promise<Ended>;
}

/** Starts `posthorn dev` on a free port, for the receiver at `to`. */
export async function startDev(
  to: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = { SIGNING_KEY: KEY },
): Promise<Dev> {
  const program = startPosthorn(['dev', '--to', to, '--port', '0', ...args], env);
  const line = await program.line(/^page|"listening"/);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? '';
  return { program, url, run: (...rest) => posthorn(rest, { env: { POSTHORN_SANDBOX: url } }) };
}
