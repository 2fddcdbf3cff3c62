// Compiles the programs by SWC into the folders "swc" and "swc-metadata", as `nest build -b swc` does: without
// and with the types of parameters.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { transformFileSync } from '@swc/core';

for (const [folder, decoratorMetadata] of Object.entries({ swc: false, 'swc-metadata': true })) {
  mkdirSync(folder);
  writeFileSync(`${folder}/package.json`, '{"type":"commonjs"}');
  for (const file of readdirSync('commonjs').filter((name) => name.endsWith('.ts'))) {
    const { code } = transformFileSync(`commonjs/${file}`, {
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata },
      },
      module: { type: 'commonjs' },
      swcrc: false,
    });
    writeFileSync(`${folder}/${file.replace('.ts', '.js')}`, code);
  }
}
