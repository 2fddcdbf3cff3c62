import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { expectOperator, operatorOf } from './example-operator.ts';
import { expectExample, openExample } from './example-project.ts';
import { bunPackage, runtimeFolder } from './runtime.ts';

test('examples/elysia receives on Bun', async () => {
  const server = readFileSync(join(packageRoot, 'examples/elysia/server.ts'), 'utf8');
  const mount = "new Elysia()\n  .all('/operator/*', ({ request }) => operator(request), { parse: 'none' })";
  const files = {
    'operator.ts': `${operatorOf('./receiver.ts')}\nexport { operator };\n`,
    'server.ts': `import { operator } from './operator.ts';\n${server.replace('new Elysia()', mount)}`,
  };
  const example = openExample('elysia', { files });
  const PATH = `${runtimeFolder(`${bunPackage}@1.4.5`)}/bin:${process.env.PATH}`;
  const running = await example.start({ environment: { PATH }, runtime: 'bun' });
  // The pattern of this mount does not take `/operator`.
  await expectOperator(running, ['/operator/']);
  await expectExample(running, { module: './receiver.ts' });
});
