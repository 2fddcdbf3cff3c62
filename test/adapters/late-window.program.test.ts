import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

const file = fileURLToPath(new URL('late-window.mjs', import.meta.url));
const cases = [
  ['toNode', 'GET', '/webhooks'],
  ['toNode', 'POST', '/webhooks'],
  ['toNode', 'GET', '/other'],
  ['toNode', 'POST', '/other'],
  ['toNodeOperator', 'GET', '/operator/api/health'],
  ['toNodeOperator', 'POST', '/operator/api/dead-letters/drop'],
  ['toNodeOperator', 'GET', '/other'],
];

test.each(cases)(
  'over HTTP/2: %s resets the stream of an answer that is not taken (%s %s), and a late WINDOW_UPDATE harms nothing',
  (...args) => {
    // A process that loops must not fill the memory of the machine before its time is over.
    const command = 'ulimit -v 14000000 2>/dev/null; exec "$0" "$@"';
    const printed = execFileSync('sh', ['-c', command, process.execPath, file, ...args], {
      cwd: packageRoot,
      encoding: 'utf8',
      timeout: 30_000,
      killSignal: 'SIGKILL',
    });
    // The echo of a PING, and RST_STREAM with CANCEL.
    expect(printed.trim()).toBe('true true');
  },
);
