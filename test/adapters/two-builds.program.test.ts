import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

test('receivers of the ESM and the CommonJS build, mounted in one process, report a misdirected delivery once', () => {
  const program = `
    import { once } from 'node:events';
    import { createServer } from 'node:http';
    import { createRequire } from 'node:module';
    import * as esm from 'posthorn';
    import { toNode } from 'posthorn/node';
    const require = createRequire(import.meta.url);
    const commonJs = { ...require('posthorn'), ...require('posthorn/node') };
    const mount = (name, { createReceiver, toNode }) => {
      const receiver = createReceiver({ signingKey: 'k' }).on('*', () => {});
      receiver.observe(({ code }) => console.log(name, code));
      return toNode(receiver, { path: '/' + name });
    };
    const [first, second] = [mount('esm', { ...esm, toNode }), mount('commonjs', commonJs)];
    const server = createServer((request, response) => {
      const notFound = () => response.writeHead(404).end();
      first(request, response, () => second(request, response, notFound));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = 'http://127.0.0.1:' + server.address().port + '/other';
    const headers = { 'x-service-signature': 'ab'.repeat(32), connection: 'close' };
    console.log((await fetch(url, { method: 'POST', headers, body: '{}' })).status);
    server.close();`;
  const args = ['--input-type=module', '-e', program];
  const printed = execFileSync(process.execPath, args, { cwd: packageRoot, encoding: 'utf8' });
  expect(printed.trim().split('\n').sort()).toEqual(['404', 'esm not_found']);
});
