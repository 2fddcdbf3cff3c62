import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { stores } from '../../src/stores/list.ts';
import { packageRoot } from '../support/child-program.ts';

// The built file, because it reads package.json by its own place.
const url = pathToFileURL(join(packageRoot, 'dist/src/cli/stores/store-parts.js')).href;

test.each(stores)(
  'the program does for $name what the list says',
  async ({ name, journal, migration, option }) => {
    const { storeParts }: typeof import('../../src/cli/stores/store-parts.ts') = await import(url);
    const { addCommand, withDeadLetters, withJournal } = await storeParts[name]();
    expect(addCommand !== undefined).toBe(migration !== undefined);
    expect(withDeadLetters !== undefined).toBe(option !== undefined);
    expect(withJournal !== undefined).toBe(option !== undefined && journal !== undefined);
  },
);
